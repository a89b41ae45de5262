//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// keeper runs the server as long as its standard input is open, and removes the
// folder afterwards. The input is a pipe from the test binary, which closes when the
// binary ends or is killed. So nothing is left behind, and no test has to stop anything.
// With the folder of another server the new one is its standby. A line restarts the server,
// or ends it: SIGQUIT makes it stop at once, as in a crash; or it makes a standby the primary.
const keeper = `
cd "$2" || exit 1
if [ -n "$3" ]; then
	"$1/pg_basebackup" -h "$3" -U postgres -D data -R -X stream -c fast >log 2>&1 || exit 1
else
	"$1/initdb" --pgdata=data --username=postgres --auth=trust --encoding=UTF8 --no-locale --no-sync --no-instructions >log 2>&1 || exit 1
fi
serve() {
	"$1/postgres" -D data -k "$2" -c listen_addresses= -c max_connections=200 -c shared_buffers=32MB >>log 2>&1 </dev/null &
	server=$!
}
serve "$1" "$2"
while read -r order; do
	case $order in
	promote) "$1/pg_ctl" promote -D data >>log 2>&1 ;;
	stop) kill -QUIT $server; wait $server ;;
	*) kill -QUIT $server; wait $server; serve "$1" "$2" ;;
	esac
done
kill -QUIT $server
wait $server
cd / && rm -rf "$2"
`

// start makes a cluster in a temporary folder and waits until it answers. If primary is not
// nil, it is a standby of that one.
func (c *cluster) start(bin string, primary *cluster) error {
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket is limited
	if err != nil {
		return err
	}
	credential, err := owner()
	if err == nil && credential != nil {
		err = os.Chown(dir, int(credential.Uid), int(credential.Gid))
	}
	if err != nil {
		return errors.Join(err, os.Remove(dir))
	}
	c.socketDir = dir
	from := ""
	if primary != nil {
		from = primary.socketDir
	}
	cmd := exec.Command("/bin/sh", "-c", keeper, "sh", bin, dir, from) //nolint:gosec,noctx // the words above; it ends with this program, no sooner
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: credential,
		// It has its own process group, so that an interrupt from the terminal ends
		// only the tests, and the keeper can clean up.
		Setpgid: true,
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	if err := c.await(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log")) //nolint:gosec // it explains the error, where it is there
		return errors.Join(fmt.Errorf("%w; its log says: %s", err, log), input.Close(), os.RemoveAll(dir))
	}
	c.keeper = input
	return nil
}

// owner is the user that the server runs as; nil for this user. The server refuses to run
// as root, so root chooses another user.
func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(account.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(account.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user to run it as")
}
