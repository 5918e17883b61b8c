# Steps of Tools/test and Tools/check: each counts its tests. Sourced, after setup.sh, build.sh and firmware.sh; needs `root`.

passed=0
failed=0
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT

step() { printf '\n== %s\n' "$*"; }

# count NAME PASSED FAILED STATUS SECONDS : adds the results of a step. A step without a failed test counts as one
# failure if its status is not 0 or if it tested nothing.
count() {
    local tests_failed=$3
    if [[ $tests_failed -eq 0 && ($4 -ne 0 || $2 -eq 0) ]]; then tests_failed=1; fi
    passed=$((passed + $2))
    failed=$((failed + tests_failed))
    printf -- '-- %s: %d passed, %d failed, %d s\n' "$1" "$2" "$tests_failed" "$5"
}

# number WORDS TEXT : the number before the words. number_after WORDS TEXT : the number after them. 0 if there is none.
number() {
    local value
    value=$(sed -nE "s/.*(^|[^0-9])([0-9]+) $1.*/\2/p" <<<"$2")
    printf '%d' "${value:-0}"
}
number_after() {
    local value
    value=$(sed -nE "s/.*$1 ?([0-9]+).*/\1/p" <<<"$2")
    printf '%d' "${value:-0}"
}

# Runs the unit tests that build_tests built.
run_unit_tests() {
    # The backtracer is off: it can hang when a test ends a process on purpose.
    # The time limit ends a test that hangs: all tests together take a minute or two.
    SWIFT_BACKTRACE=enable=no timeout --foreground 1200 swift test -c release --scratch-path .build-test --skip-build --disable-xctest
}

# count_unit_tests NAME LOG STATUS SECONDS : prints what went wrong in a run of the unit tests, and counts them.
count_unit_tests() {
    local total bad
    quieten_tests <"$2"
    # A test program that crashes leaves no summary: then no test counts as passed.
    total=$(number_after 'Test run with' "$(grep -a 'Test run with' "$2" | tail -n 1 || true)")
    bad=$(grep -aE 'Test .* failed after [0-9.]+ seconds' "$2" | grep -avc 'Test run with' || true)
    count "$1" $((total > bad ? total - bad : 0)) "$bad" "$3" "$4"
}

# Leaves out the thousand lines that say that a test began or passed.
quieten_tests() {
    awk '
        /^(◇|✔|➜|\[[0-9]+\/[0-9]+\] (Write|Planning)|Building for )/ && !/Test run with/ { next }
        { print; fflush() }
    '
}

# run_modules NAME : runs the modules of the end-to-end tests that stdin names, from Tests/EndToEnd. Most tests mainly wait for a time of
# the radio or the collar, so more modules run at once than there are cores.
run_modules() {
    local name=$1 start=$SECONDS status=0 log total=0 bad=0 skipped=0 summary
    mkdir -p "$scratch/$name"
    COLLAR_LINK_BINARY=$binary xargs -P 7 -I '{}' Tools/lib/end-to-end-module '{}' "$scratch/$name" || status=$?
    for log in "$scratch/$name"/*.log; do
        total=$((total + $(number_after Ran "$(grep -E '^Ran [0-9]+ tests? in' "$log" || true)")))
        summary=$(grep -E '^(OK|FAILED)( \(.*\))?$' "$log" | tail -n 1 || true)
        # A failed set-up is counted as an error, but not as a test.
        bad=$((bad + $(number_after failures= "$summary") + $(number_after errors= "$summary")))
        skipped=$((skipped + $(number_after skipped= "$summary")))
    done
    [[ $skipped -eq 0 ]] || printf '%d skipped\n' "$skipped"
    count "$name" $((total - skipped > bad ? total - skipped - bad : 0)) "$bad" "$status" $((SECONDS - start))
}

# Prints the sums. The status says whether no test failed.
summarize() {
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [[ $failed -eq 0 ]]
}
