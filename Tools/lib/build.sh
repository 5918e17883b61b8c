# Functions that build the program. Sourced, after setup.sh; needs `root`, the checkout.

binary=$root/.build/release/collar-link

# Checks that there is a Swift toolchain, and makes libudev's header available. Nothing is installed.
setup_build() {
    command -v swift >/dev/null ||
        give_up "there is no Swift toolchain: install Swift 6.3 or later, from swift.org, and put it on PATH"
    setup_libudev
}

# Builds for release, with the Swift libraries in the binary and without debug information. Progress goes to stderr; nothing is
# printed if there is nothing to do.
build_release() {
    # Debug information takes time to write, and the linker time to copy. The program exports nothing, so the linker may drop what it
    # does not use.
    # Searches for texts would link the regular-expression engine, a megabyte; without its implicit import they do not compile.
    local options=(-Xswiftc -gnone -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import
        -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --gc-sections
        -Xlinker --exclude-libs=ALL -Xlinker --no-export-dynamic)
    # Packed relocations and a static C++ runtime save 2 MB of resident memory. The linker takes the first library of
    # a name that it finds, and this folder has only the static library.
    local archive folder=$root/.tools/static-libraries
    archive=$(gcc -print-file-name=libstdc++.a 2>/dev/null || true)
    if [[ $archive == /* ]]; then
        mkdir -p "$folder"
        ln -sfn "$archive" "$folder/libstdc++.a"
        options+=(-Xlinker "-L$folder")
    fi
    local commit
    commit=$(git -C "$root" describe --always --abbrev=9 --match='' --dirty=+ 2>/dev/null || true)
    COLLAR_LINK_COMMIT=$commit swift build --package-path "$root" -c release --static-swift-stdlib --product collar-link \
        "${options[@]}" 2>&1 | quieten >&2
}

# Leaves out lines that give no information. The linker's warning about mktemp looks alarming, but it is about the
# toolchain's FoundationEssentials and cannot be avoided here.
quieten() {
    awk '
        /the use of `mktemp'"'"' is dangerous/ { next }
        /^\[[0-9]+\/[0-9]+\] (Planning build|Write )/ { next }
        /^(Building for (production|debugging)\.\.\.|warning: .*mktemp.*)$/ { next }
        /^Build (of product .*)?complete!/ { if (!said) next }
        { said = 1; print; fflush() }
    '
}
