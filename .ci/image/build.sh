#!/usr/bin/env bash
# Builds deploy/Containerfile where no registry of images can be reached. Its base is made here: a small Debian root from the machine's
# own mirror, with Node and npm from the npm registry. Root, buildah, mmdebstrap; no daemon.
#   build.sh <folder>   makes root/, the files of the image, and image.json, its description, in the folder; nothing else is left of
#                       the build, and nothing stays mounted. `pnpm build:package` comes first.
# env: NODE_BINARY (that of the lockfile), IMAGE_HOME (keeps the base for the next build), VERSION, REVISION, CREATED
set -euo pipefail
# Mounts of buildah end with this namespace, however the script ends.
[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare --mount "$0" "$@"

REPOSITORY=$(cd "$(dirname "$0")/../.." && pwd)
OUT=$(realpath -m "$1")
NODE_BINARY=${NODE_BINARY:-$(realpath "$REPOSITORY/node_modules/node/bin/node")}
NPM_VERSION=11.19.1 SUITE=bookworm HOME_DIR=${IMAGE_HOME:-/var/tmp/trunkline-image}
# What `npm install` and the gateway need of Debian. Node needs libstdc++, which even an essential Debian does not have.
PACKAGES=base-files,base-passwd,coreutils,dash,libc-bin,libstdc++6,sed
say() { echo "image: $*" >&2; }

make_base() { # takes its name when it is whole
  local base=$1 t=$HOME_DIR/new mirror
  look() { apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian" && !n++ {print $2}'; }
  mirror=$(look); [ -n "$mirror" ] || { apt-get -qq update >&2; mirror=$(look); }
  [ -n "$mirror" ] || { say 'no Debian mirror in the apt sources'; exit 1; }
  say "unpacking Debian $SUITE"
  rm -rf "$HOME_DIR"/new "$HOME_DIR"/base-*
  mmdebstrap --quiet --mode=root --variant=extract --include="$PACKAGES" --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' "$SUITE" "$t" \
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $SUITE main" >&2
  # No script of a package has run, so what they make is made here.
  cp "$t/usr/share/base-passwd/passwd.master" "$t/etc/passwd"
  cp "$t/usr/share/base-passwd/group.master" "$t/etc/group"
  mkdir -p "$t/usr/local/bin"
  cp "$NODE_BINARY" "$t/usr/local/bin/node"
  npm install --global --prefix "$t/usr/local" --ignore-scripts --no-audit --no-fund --silent "npm@$NPM_VERSION" >&2
  mv "$t" "$base"
}

mkdir -p "$HOME_DIR" "$OUT"
exec 9>"$HOME_DIR/lock"; flock 9
BASE=$HOME_DIR/base-$SUITE-$("$NODE_BINARY" --version)-npm-$NPM_VERSION
[ -d "$BASE" ] || make_base "$BASE"

STORE=$OUT/store DRIVER=overlay
trap 'rm -rf "$STORE"' EXIT
# The other driver copies every layer whole, which takes three times as long, and works everywhere.
mkdir -p "$STORE/trial"/{lower,upper,work}
mount -t overlay overlay -o "lowerdir=$STORE/trial/lower,upperdir=$STORE/trial/upper,workdir=$STORE/trial/work" "$STORE/trial/lower" 2>/dev/null || DRIVER=vfs
build() { buildah --root "$STORE/layers" --runroot "$STORE/run" --storage-driver "$DRIVER" "$@" 9>&-; }
# Only with this format the image keeps its health check.
bud() { build bud --quiet --isolation chroot --format docker "$@" >/dev/null; }

printf 'FROM scratch\nCOPY . /\n' | bud --tag localhost/base --file - "$BASE"
say "building the image ($DRIVER)"
bud --tag localhost/trunkline --file "$REPOSITORY/deploy/Containerfile" --build-arg BASE=localhost/base \
  --build-arg VERSION="${VERSION:-unknown}" --build-arg REVISION="${REVISION:-unknown}" --build-arg CREATED="${CREATED:-unknown}" \
  --build-arg NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt --volume /etc/ssl/certs:/etc/ssl/certs:ro "$REPOSITORY/packages/trunkline"
build inspect --type image localhost/trunkline >"$OUT/image.json"
cp -a "$(build mount "$(build from localhost/trunkline)")" "$OUT/root"
build umount --all >/dev/null
umount "$STORE/trial/lower" "$STORE/layers/$DRIVER" 2>/dev/null || true
