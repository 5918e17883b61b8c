# Functions that build the firmware and set up its emulator. Sourced, after setup.sh; needs `root`, the checkout.

firmware_board=$root/hardware/boards/qemu-mps2-an386
firmware_build=$root/.build-board

setup_emulator() { install_missing "runs the firmware on an emulated microcontroller" qemu-system-arm; }

# How the linker optimises all modules together. Its usual steps serve speed; with these an image takes 9 % less flash.
#
# The steps are those for one module, twice, because the second time finds what the first one has made simple. After them, values move to
# where they are used. Constants are not loaded ahead, because they occupy registers then. The threshold is the size up to which a function
# is inlined.
small_passes="default<Oz>,function(sink)"
small_link=(--gc-sections --lto-O2 "--lto-newpm-passes=$small_passes,$small_passes" --mllvm=-disable-machine-licm
    --mllvm=-inline-threshold=25)

# The modules that a collar's firmware consists of, and the folder in which build_core leaves what it made of them.
core=("$root"/Sources/Collar{Wire,ARQ,Firmware})
core_build() { printf '%s' "$root/.build-fw-$1/$1-none-none-eabi/release"; }

# build_core ARCHITECTURE : builds the core as Embedded Swift, without heap, for a kind of microcontroller: armv6m, armv7em or riscv32.
build_core() {
    swift build --package-path "$root" --triple "$1-none-none-eabi" --target CollarFirmware -c release --scratch-path "$root/.build-fw-$1" \
        -Xswiftc -enable-experimental-feature -Xswiftc Embedded -Xswiftc -wmo -Xswiftc -no-allocations -Xswiftc -Osize -Xswiftc -gnone \
        -Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -Xfrontend -Xswiftc -disable-stack-protector
}

# Builds the images of the emulated board into .build-board/NAME.elf, if their sources have changed. The linker refuses an image
# that does not fit the memory of its script.
build_images() {
    local triple=armv7em-none-none-eabi sources=$firmware_board/Sources toolchain module image file
    local flags=(-Osize -wmo -parse-as-library -target "$triple" -no-allocations -swift-version 6 -warnings-as-errors
        -strict-memory-safety -lto=llvm-full -enable-experimental-feature Embedded -enable-experimental-feature Lifetimes
        -Xcc -mfloat-abi=soft -Xfrontend -function-sections -Xfrontend -disable-stack-protector
        -I "$firmware_build" -I "$sources/CBoard")
    # A function that the compiler inlines copies large values field by field: 6 % of the flash. The linker inlines without that.
    # The codec has no such values.
    local few_copies=(-Xllvm -sil-disable-pass=inline)
    are_images_current && return
    say "building the firmware"
    rm -rf "$firmware_build"
    mkdir "$firmware_build"
    for module in "${core[@]}" "$sources/Board"; do
        [[ $module == */CollarWire ]] || flags+=("${few_copies[@]}")
        compile_module "$module" -emit-module -emit-module-path "$firmware_build/${module##*/}.swiftmodule"
    done
    toolchain=$(dirname "$(readlink -f "$(command -v swiftc)")")
    for file in start builtins; do
        "$toolchain/clang" -target "$triple" -mfloat-abi=soft -Os -ffreestanding -fno-builtin -ffunction-sections \
            -Wall -Wextra -Werror -c "$sources/CBoard/$file.c" -o "$firmware_build/$file.o"
    done
    for image in Base Collar; do
        compile_module "$sources/${image}Image"
        "$toolchain/ld.lld" "${small_link[@]}" -static -L "$firmware_board" -T "$firmware_board/${image,,}.ld" \
            "$firmware_build"/{start,builtins,"${image}Image",Board,CollarFirmware,CollarARQ,CollarWire}.o \
            -o "$firmware_build/$image.elf" -Map="$firmware_build/$image.map"
    done
}

# compile_module FOLDER FLAG… : compiles a module with the flags of its caller.
compile_module() {
    local name=${1##*/}
    # shellcheck disable=SC2046 # one word per source
    swiftc "${flags[@]}" -module-name "$name" -c $(find "$1" -name '*.swift' | sort) -o "$firmware_build/$name.o" "${@:2}"
}

# Whether the images are newer than everything that they are made of.
are_images_current() {
    # It is linked last.
    [[ -e $firmware_build/Collar.elf ]] || return
    local newer
    newer=$(find "${core[@]}" "$firmware_board" "$root/Tools/lib/firmware.sh" \
        -newer "$firmware_build/Collar.elf" -print -quit)
    [[ -z $newer ]]
}
