# The jobs of matrix.yml, one per device and shard. $devices and $releases come from the project, $inputs from whoever
# started the run (null at night). A device on hosted runners takes its runner from matrix/devices.py; any other takes the
# label given as the input <device>-runner, and is not planned without one, since its jobs would wait for a day.

def hosted: test("^(ubuntu|macos|windows)-"); # GitHub's own labels

($inputs // {}) as $inputs
| [($inputs.devices // "") | splits("[ ,]+") | select(. != "")] as $wanted
| ($wanted - ($devices | map(.name))) as $unknown
| if $unknown != [] then error("no device \($unknown | join(", ")): expected \($devices | map(.name) | join(", "))") else . end
| [
    $devices[]
    | .source = (if .runner | hosted then "hosted" else "self" end)
    | if .source == "self" then .runner = ($inputs["\(.name)-runner"] // "") else . end
    | select($wanted == [] or (.name | IN($wanted[])))
    | if $wanted != [] and .runner == "" then error("\(.name) has no hosted runner: give a label as \(.name)-runner") else . end
    | select(.runner != "")
  ]
| [
    .[] as $device
    | range($shards) as $shard
    # dealt like cards, so that each shard has old releases and new ones
    | [$releases | to_entries[] | select(.key % $shards == $shard) | .value]
    | select(. != [])
    | {
        device: $device.name,
        runner: $device.runner,
        source: $device.source,
        shard: ($shard + 1),
        releases: join(" "),
        sessions: (map("tests-\($device.name)-\(.)") | join(" "))
      }
  ]
| if . == [] then error("nothing to measure") else . end
