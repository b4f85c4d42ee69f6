#!/bin/sh
# Runs a command on a simulated computer with one network card, and a network behind it that responds on a public, a
# private and a link-local address. Requires root and new namespaces for network, mounts and processes:
#   unshare --net --mount --pid --fork --kill-child --mount-proc sh world.sh FOLDER NODE COMMAND…
# TUNNEL_MODE is the mode of /dev/net/tun there (666: every user), independent of the mode on the real computer.
set -e
folder=$1 node=$2
shift 2
here=$(dirname "$0")
# Usage: wait_for WHAT COMMAND…, until the command succeeds.
wait_for() {
  what=$1 rounds=0
  shift
  until "$@"; do
    rounds=$((rounds + 1))
    if [ "$rounds" -ge 2000 ]; then
      echo "world.sh: $what is not ready after 100 seconds" >&2
      exit 1
    fi
    sleep 0.05
  done
}
mount --make-rprivate /
mkdir "$folder/devices"
mount -t tmpfs tmpfs "$folder/devices"
mknod "$folder/devices/tun" c 10 200
chmod "${TUNNEL_MODE:-666}" "$folder/devices/tun"
mkdir -p /dev/net
mount --bind "$folder/devices" /dev/net
unshare --net sleep infinity &
world=$!
is_apart() { [ "$(readlink /proc/$world/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
wait_for 'the world' is_apart
in_world() { nsenter --net=/proc/$world/ns/net "$@"; }
ip link set lo up
ip link add eth0 type veth peer name far netns $world
ip addr add 198.51.100.2/24 dev eth0
ip link set eth0 up
in_world ip link set lo up
in_world ip addr add 198.51.100.1/24 dev far
in_world ip link set far up
for address in 203.0.113.7 10.77.0.1 169.254.169.254 168.63.129.16; do in_world ip addr add $address/32 dev lo; done
ip addr add 198.51.100.77/32 dev lo
ip route add default via 198.51.100.1
# Whom pasta may let ping, as systemd allows everybody.
echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range
# An address that this "machine" gets later: once it is in a file `later` of the user's own folder.
(wait_for 'nothing' test -s "$folder/own/later" 2> /dev/null && ip addr add "$(cat "$folder/own/later")/32" dev eth0) &
echo 'nameserver 198.51.100.1' > "$folder/resolv.conf"
mount --bind "$folder/resolv.conf" /etc/resolv.conf
"$node" "$here/server.ts" 127.0.0.1:4000 0.0.0.0:5000 > "$folder/host.log" 2>&1 &
in_world "$node" "$here/server.ts" 0.0.0.0:80 names > "$folder/world.log" 2>&1 &
are_ready() { grep -q ready "$folder/host.log" && grep -q ready "$folder/world.log"; }
wait_for 'what answers in it' are_ready
exec "$@"
