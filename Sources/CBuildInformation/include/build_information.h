// What the build knows of its source.

#pragma once

/// The commit that was built, as git abbreviates it, with a "+" after it if files differed from that commit; an empty string if it was
/// not built in a git checkout.
extern const char *const collar_link_commit;
