# Functions that install missing packages, or unpack packages without installing them. Sourced; needs `root`, the
# checkout.

# The folder of libraries, as Debian names it.
multiarch=$(uname -m)-linux-gnu

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
give_up() { say "$@"; exit 1; }

# Runs a command as root: directly, or with sudo.
as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        give_up "not root, and there is no sudo. As root, run: $*"
    fi
}

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# install_missing WHY PACKAGE… : installs the packages that are missing, and prints their names and the reason.
install_missing() {
    local why=$1 package missing=()
    shift
    for package in "$@"; do is_installed "$package" || missing+=("$package"); done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    command -v apt-get >/dev/null ||
        give_up "missing: ${missing[*]} ($why). There is no apt here: install what your system calls them, and try again."
    say "installing ${missing[*]} ($why)"
    # The package lists may be missing on a fresh machine, or may name versions that no longer exist.
    apt_install "${missing[@]}" || { as_root apt-get update -q >&2 && apt_install "${missing[@]}"; } ||
        give_up "apt could not install ${missing[*]}; what it said is above"
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

# unpack_privately PACKAGE… : unpacks the packages, also if they are installed, and their missing dependencies into
# .tools/FIRST, without installing them: no service starts, no udev rule takes effect, no user is added. Root is needed
# only if apt does not know a package yet. Then use_private makes the programs available. A package with an exclamation
# mark after its name is unpacked without its dependencies.
unpack_privately() {
    local folder=$root/.tools/${1%!}
    if [[ ! -e $folder/.complete ]]; then
        command -v apt-get >/dev/null || give_up "missing: $1. There is no apt here to fetch it."
        say "unpacking ${*%!} into ${folder#"$root"/} (not installed)"
        rm -rf "$folder"
        mkdir -p "$folder/.packages"
        local names
        names=$(names_to_fetch "$@" || { as_root apt-get update -q >&2 && names_to_fetch "$@"; }) ||
            give_up "apt does not know $*"
        # shellcheck disable=SC2086 # one word per package
        fetch_into "$folder" $names || { as_root apt-get update -q >&2 && fetch_into "$folder" $names; } ||
            give_up "$* could not be unpacked"
        rm -rf "$folder/.packages"
        touch "$folder/.complete"
    fi
    use_private "$folder"
}

# fetch_into FOLDER PACKAGE… : downloads the packages and unpacks them into the folder. Steps are joined, because `set -e` has no
# effect in a function whose status is examined.
fetch_into() {
    local folder=$1
    shift
    (
        # apt's own user may not enter a private folder, and apt warns of that at length when root calls it.
        cd "$folder/.packages" && apt-get download -q -o APT::Sandbox::User=root "$@" >&2 || exit
        for archive in *.deb; do dpkg -x "$archive" .. || exit; done
    )
}

# These packages and what apt would install for them. All of these packages, because a program such as PostgreSQL finds
# its extensions only in the folder that it is in.
names_to_fetch() {
    local package whole=() names=''
    for package in "$@"; do [[ $package == *! ]] || whole+=("$package"); done
    names=$(LC_ALL=C apt-get install --simulate --no-install-recommends "${whole[@]}" 2>/dev/null) || return
    { awk '$1 == "Inst" { print $2 }' <<<"$names" && printf '%s\n' "${@%!}"; } | sort -u
}

# unpack_source PACKAGE : downloads the source of a package from the server of the package, checks it as apt does, and unpacks it
# into .tools/PACKAGE-source. Returns 1 if it cannot be had: tests that need it are skipped then.
unpack_source() {
    local folder=$root/.tools/$1-source address suite
    [[ ! -e $folder/.complete ]] || return 0
    command -v apt-get >/dev/null || return 1
    # A line of the policy: priority, address of the archive, suite/component, architecture, "Packages".
    read -r address suite < <(apt-cache policy "$1" 2>/dev/null | awk '$3 ~ "/main$" { print $2, $3; exit }') || return 1
    [[ -n $suite ]] || return 1
    say "unpacking the source of $1 into ${folder#"$root"/} (only for tests)"
    rm -rf "$folder"
    mkdir -p "$folder/.apt/lists/partial" "$folder/.apt/cache/archives/partial"
    echo "deb-src [signed-by=$(source_keyring)] $address ${suite%/main} main" >"$folder/.apt/sources.list"
    local options=(-q -o "Dir::Etc::SourceList=$folder/.apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$folder/.apt/lists" -o "Dir::Cache=$folder/.apt/cache" -o APT::Sandbox::User=root
        -o Acquire::Languages=none)
    (
        cd "$folder"
        apt-get "${options[@]}" update >&2 && apt-get "${options[@]}" source --download-only "$1" >&2 &&
            tar --strip-components=1 -xf ./*.orig.tar.*z
    ) || { say "the source of $1 could not be had"; return 1; }
    rm -rf "$folder/.apt" "$folder"/*.orig.tar.* "$folder"/*.debian.tar.* "$folder"/*.dsc
    touch "$folder/.complete"
}

# The keys of the distribution's archive.
source_keyring() {
    local keyring
    for keyring in /usr/share/keyrings/{debian,ubuntu}-archive-keyring.gpg; do
        if [[ -e $keyring ]]; then echo "$keyring"; return; fi
    done
}

# private_environment FOLDER PACKAGE… : downloads Python packages with pip into the virtual environment .tools/FOLDER.
private_environment() {
    local environment=$root/.tools/$1
    shift
    [[ ! -e $environment/.complete ]] || return 0
    install_missing "makes virtual environments" python3-venv
    say "downloading $* into ${environment#"$root"/} (not installed)"
    rm -rf "$environment"
    python3 -m venv "$environment" || give_up "python3 cannot make a virtual environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "$@" >&2 || give_up "pip could not download $*"
    touch "$environment/.complete"
}

# Makes libudev's header and link available to the build. Where they are not installed, they are unpacked into .tools/libudev-dev: to
# install libudev-dev would upgrade libudev1, and with it systemd, on a machine with older versions.
setup_libudev() {
    local folder=$root/.tools/libudev-dev runtime
    if [[ -e /usr/include/libudev.h ]]; then
        # Where the program pkg-config is missing, the package manager does not look here.
        export PKG_CONFIG_PATH=${PKG_CONFIG_PATH:+$PKG_CONFIG_PATH:}/usr/lib/$multiarch/pkgconfig
        return
    fi
    unpack_privately libudev-dev!
    # Programs run with the libudev1 that every Debian has. The link in the package would name a file of the package's own version.
    runtime=$(find "/usr/lib/$multiarch" "/lib/$multiarch" -maxdepth 1 -name libudev.so.1 -print -quit 2>/dev/null)
    [[ -n $runtime ]] || give_up "missing: libudev.so.1, by which USB radios are found (package libudev1)"
    ln -sfn "$runtime" "$folder/usr/lib/$multiarch/libudev.so"
    printf '%s\n' 'Name: libudev' 'Description: unpacked, not installed' 'Version: 0' "Cflags: -I$folder/usr/include" \
        "Libs: -L$folder/usr/lib/$multiarch -ludev" >"$folder/libudev.pc"
    export PKG_CONFIG_PATH=$folder${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
}

# Lets Python find the helpers of the end-to-end tests and the independent decoder.
use_test_modules() {
    export PYTHONPATH=$root/Tests/EndToEnd/support:$root/Protocol/reference PYTHONDONTWRITEBYTECODE=1
}

# Adds the programs of an unpacked package to PATH, after the machine's own programs. Only they use the libraries of the
# package: a test that starts such a program sets LD_LIBRARY_PATH to PRIVATE_LIBRARIES.
use_private() {
    export PATH=$PATH:$1/usr/sbin:$1/usr/bin:$1/sbin:$1/bin
    export PRIVATE_LIBRARIES=${PRIVATE_LIBRARIES:+$PRIVATE_LIBRARIES:}$1/usr/lib/$multiarch:$1/lib/$multiarch
}

# Unpacks PostgreSQL with PostGIS, for the tests that run a server of their own (Tests/EndToEnd/support/servers.py).
unpack_postgresql() {
    unpack_privately postgresql-15-postgis-3 postgresql-15-postgis-3-scripts postgresql-15 postgresql-client-15
    # An installation makes this link.
    ln -sfn postgis-3.control "$root/.tools/postgresql-15-postgis-3/usr/share/postgresql/15/extension/postgis.control"
}
