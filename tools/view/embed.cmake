# embed.cmake - writes OUT, a C source with the bytes of the file IN; without IN, with none.
if(IN AND EXISTS "${IN}")
  file(READ "${IN}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(count "sizeof cairn_view_page")
else()
  set(bytes "0")
  set(count 0)
endif()
file(WRITE "${OUT}" "/* made by embed.cmake */\n#include \"view.h\"\n
const unsigned char cairn_view_page[] = {\n${bytes}\n};\nconst size_t cairn_view_page_bytes = ${count};\n")
