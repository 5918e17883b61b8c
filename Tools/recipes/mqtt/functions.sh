# Functions of publish and publish-homeassistant. Sourced.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

give_up() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

broker=(${MQTT_HOST:+--host "$MQTT_HOST"} ${MQTT_PORT:+--port "$MQTT_PORT"})

# Keeps the lines on standard input in a file. mosquitto_pub cannot publish a zero byte.
read_batch() { LC_ALL=C tr '\000' ' ' | LC_ALL=C awk 1 >"$scratch/batch"; }

# publish TOPIC [OPTION…] : publishes the lines on standard input, each as a message of QoS 1, over one connection. Gives up
# unless the broker acknowledges them all.
publish() {
    local topic=$1 sent acknowledged status=0
    shift
    cat >"$scratch/lines"
    sent=$(wc -l <"$scratch/lines")
    [[ $sent -gt 0 ]] || return 0
    # Messages are counted by their numbers, which have 16 bits.
    [[ $sent -le 60000 ]] || give_up "$sent lines are too many for one connection: deliver at most --batch 60000"
    # mosquitto_pub disconnects when its last message is acknowledged. But it waits for a broker that has gone away for as
    # long as it takes, hence the time limit; and it may exit with 0 after an error in the middle (a refused message, a
    # connection that it gives up). So the acknowledgements themselves are counted, which it reports with --debug. MQTT 5
    # says of a message that it was refused; MQTT 3.1.1 acknowledges and drops it.
    timeout "${MQTT_TIMEOUT:-60}" mosquitto_pub "${broker[@]}" -V mqttv5 --debug --qos 1 --topic "$topic" --stdin-line "$@" \
        <"$scratch/lines" >"$scratch/log" || status=$?
    [[ $status -ne 124 ]] || give_up "the broker did not acknowledge $sent messages for $topic within ${MQTT_TIMEOUT:-60} s"
    [[ $status -eq 0 ]] || give_up "mosquitto_pub failed with exit code $status for $topic"
    # Reasons below 128 are successes (16: nobody has subscribed).
    acknowledged=$(sed -nE 's/.* received PUBACK \(Mid: ([0-9]+), RC:([0-9]+)\).*/\1 \2/p' "$scratch/log" |
        awk '$2 < 128 && !seen[$1]++ { count++ } END { print count + 0 }')
    [[ $acknowledged -eq $sent ]] || give_up "the broker acknowledged $acknowledged of $sent messages for $topic"
}

# publish_newest : of the lines 'TOPIC PAYLOAD' on standard input, publishes the newest payload of each topic, retained. A
# backlog that comes late does not take the place of a newer position, in the batch or at the broker, where another
# station may have published it. Payloads without a time, which need not be JSON, count as newer the later they come, and
# older than all that have one.
publish_newest() {
    local topic payload
    awk 'index($0, " ") > 1' >"$scratch/candidates"
    cut -d ' ' -f 1 "$scratch/candidates" | sort -u >"$scratch/topics"
    retained >"$scratch/retained"
    jq -nrR '
        reduce (inputs | index(" ") as $space | {topic: .[:$space], payload: .[$space + 1:]}) as $each ({};
            ($each.payload | try [fromjson | .ts_unix_ms // .time, .seq] catch [null, null]) as $time |
            if .[$each.topic] != null and .[$each.topic].time > $time then .
            else .[$each.topic] = {$time, payload: $each.payload} end)
        | to_entries[] | "\(.key) \(.value.payload)"
        ' "$scratch/retained" "$scratch/candidates" >"$scratch/newest"
    { grep -vxFf "$scratch/retained" "$scratch/newest" || true; } >"$scratch/changed"
    while read -r topic payload; do
        publish "$topic" --retain <<<"$payload"
    done <"$scratch/changed"
}

# Prints 'TOPIC PAYLOAD' for each of the topics that has a retained message.
retained() {
    local topic options=() status=0
    while read -r topic; do options+=(--topic "$topic"); done <"$scratch/topics"
    [[ ${#options[@]} -gt 0 ]] || return 0
    # The broker does not say when it has sent what there is, hence the time limit (27: it was reached).
    mosquitto_sub "${broker[@]}" "${options[@]}" --qos 1 --retained-only -v -C $((${#options[@]} / 2)) -W 2 \
        2>"$scratch/errors" || status=$?
    [[ $status -eq 0 || $status -eq 27 ]] ||
        give_up "mosquitto_sub failed with exit code $status: $(<"$scratch/errors")"
}
