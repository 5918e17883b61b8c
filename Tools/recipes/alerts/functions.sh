# Functions of push, mail and notify. Sourced.

alerts=$(mktemp)
trap 'rm -f "$alerts"' EXIT

give_up() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# for_each_alert COMMAND : calls COMMAND KIND IS_QUIET TEXT LINK ID for each alert line on standard input, and gives up at the first one
# that fails. IS_QUIET is true or false. LINK shows the position on a map; it is empty without one. An alert that comes twice has the same
# ID.
for_each_alert() {
    local kind is_quiet text link id
    # A zero byte between values: a name may hold anything else.
    jq -j 'select(.type == "alert") | [
            .alert, (.quiet == true | tostring), .text,
            if .coordinate then "https://www.openstreetmap.org/?mlat=\(.coordinate.latitude)&mlon=\(.coordinate.longitude)#map=17/\(.coordinate.latitude)/\(.coordinate.longitude)" else "" end,
            .id
        ][] | gsub("\u0000"; " ") + "\u0000"' >"$alerts" || give_up "the input is no JSON"
    while IFS= read -r -d '' kind && IFS= read -r -d '' is_quiet && IFS= read -r -d '' text && IFS= read -r -d '' link && IFS= read -r -d '' id; do
        "$1" "$kind" "$is_quiet" "${text//[$'\r\n']/ }" "$link" "$id"
    done <"$alerts"
}
