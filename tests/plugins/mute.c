/* mute.c - a shared object without the symbol of a back end. */
__attribute__((visibility("default"))) extern const int cairn_backend_of_nothing;

const int cairn_backend_of_nothing = 0;
