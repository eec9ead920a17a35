/* hdf5_record.c - see hdf5_record.h. */
#include "io/hdf5_record.h"

#include "base/status.h"

static cairn_status write_option(hid_t object, const cairn_option *option, const void *options,
                                 cairn_error *error)
{
    const char *name = option->name;
    const void *field = (const char *)options + option->offset;
    const cairn_list *list = field;
    switch (option->type) {
    case CAIRN_OPTION_REAL:
        return cairn_hdf5_real(object, name, *(const double *)field, error);
    case CAIRN_OPTION_INTEGER:
        return cairn_hdf5_long(object, name, *(const int64_t *)field, error);
    case CAIRN_OPTION_FLAG:
        return cairn_hdf5_long(object, name, *(const bool *)field, error);
    case CAIRN_OPTION_VECTOR:
        return cairn_hdf5_attribute(object, name, (cairn_hdf5_values){ CAIRN_HDF5_REAL, 3, field },
                                    error);
    case CAIRN_OPTION_LIST:
        return cairn_hdf5_attribute(
            object, name, (cairn_hdf5_values){ CAIRN_HDF5_REAL, list->count, list->values }, error);
    case CAIRN_OPTION_NAMES:
        return cairn_hdf5_texts(object, name, ((const cairn_names *)field)->items,
                                ((const cairn_names *)field)->count, error);
    default:
        return cairn_hdf5_text(object, name, *(const char *const *)field, error);
    }
}

cairn_status cairn_hdf5_record(hid_t object, const cairn_record *record, const void *options,
                               cairn_error *error)
{
    for (int i = 0; i < record->option_count; i++)
        TRY(write_option(object, &record->options[i], options, error));
    return CAIRN_OK;
}
