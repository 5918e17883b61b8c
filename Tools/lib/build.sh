# Functions that build the program. Sourced, after setup.sh; needs `root`, the checkout.

binary=$root/.build/release/collar-link

# Checks that there is a Swift toolchain, and makes libudev's header available. Nothing is installed.
setup_build() {
    command -v swift >/dev/null ||
        give_up "there is no Swift toolchain: install Swift 6.3 or later, from swift.org, and put it on PATH"
    setup_libudev
}

# Sets `link_options`. The program exports nothing, so the linker may drop what it does not use. Packed relocations and a static C++
# runtime save 2 MB of resident memory.
set_link_options() {
    link_options=(-Xlinker -z -Xlinker pack-relative-relocs -Xlinker --gc-sections -Xlinker --exclude-libs=ALL
        -Xlinker --no-export-dynamic)
    # The linker takes the first library of a name that it finds, and this folder has only the static library.
    local archive folder=$root/.tools/static-libraries
    archive=$(gcc -print-file-name=libstdc++.a 2>/dev/null || true)
    if [[ $archive == /* ]]; then
        mkdir -p "$folder"
        ln -sfn "$archive" "$folder/libstdc++.a"
        link_options+=(-Xlinker "-L$folder")
    fi
}

# build OPTION… : builds for release, with the commit in the program. Prints nothing if there is nothing to do.
build() {
    local commit
    commit=$(git -C "$root" describe --always --abbrev=9 --match='' --dirty=+ 2>/dev/null || true)
    COLLAR_LINK_COMMIT=$commit swift build --package-path "$root" -c release "$@" 2>&1 | quieten
}

# build_release [PRODUCT] : builds the program, or another one, with the Swift libraries in it and without debug information. Progress
# goes to stderr.
build_release() {
    local link_options
    set_link_options
    # Debug information takes time to write, and the linker time to copy.
    build --static-swift-stdlib --product "${1:-collar-link}" -Xswiftc -gnone "${release_options[@]}" "${link_options[@]}" >&2
}

# Searches for texts would link the regular-expression engine, a megabyte; without its implicit import they do not compile.
release_options=(-Xswiftc -num-threads -Xswiftc 2 -Xswiftc -Xfrontend -Xswiftc -disable-implicit-string-processing-module-import
    -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld)

# Builds the program into .build-package as it is for release, with debug information that does not name the checkout.
build_for_package() {
    local link_options
    set_link_options
    build --static-swift-stdlib --product collar-link --scratch-path "$root/.build-package" -Xswiftc -g "${release_options[@]}" \
        -Xswiftc -file-prefix-map -Xswiftc "$root=." -Xcc "-ffile-prefix-map=$root=." -Xlinker --build-id=sha1 -Xlinker -z -Xlinker now "${link_options[@]}" >&2
}

# Builds the tool into .build-test as the unit tests need it, and links it once more as it is for release: end-to-end tests need no build
# of their own.
tests_build=$root/.build-test/release
tested_binary=$root/.build-test/collar-link
build_tested_tool() {
    local link_options
    set_link_options
    build --product collar-link --scratch-path "$root/.build-test" -Xswiftc -enable-testing
    swiftc -static-stdlib -use-ld=lld "@$tests_build/collar-link.product/Objects.LinkFileList" -Xlinker --defsym=main=collar_link_main \
        -L "$root/.tools/libudev-dev/usr/lib/$multiarch" -ludev "${link_options[@]}" -o "$tested_binary" 2>&1 | quieten
}

# Builds the unit tests beside the tool, and with them every program of the package.
build_tests() { build --build-tests --scratch-path "$root/.build-test" -Xswiftc -enable-testing; }

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
