#include "build_information.h"

#ifdef COLLAR_LINK_COMMIT
const char *const collar_link_commit = COLLAR_LINK_COMMIT;
#else
const char *const collar_link_commit = "";
#endif
