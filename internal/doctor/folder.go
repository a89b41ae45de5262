// The data folder and its disk.

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/health"
)

// folder says whether a gateway can work in the data folder, and nobody else.
func (e *examination) folder(context.Context) []Finding {
	const name = "data folder"
	path := e.config.Server.DataDir
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{warning(name, "if there should be data, choose their folder with --data", "there is no %s; a gateway makes it at its start", path)}
	case err != nil:
		return []Finding{wrong(name, "let the gateway's user into the folders above it", "%s", err)}
	case !info.IsDir():
		return []Finding{wrong(name, "choose a folder with --data", "%s is not a folder", path)}
	}
	findings := owned(name, path, info)
	probe, err := os.CreateTemp(path, ".doctor-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		findings = append(findings, wrong(name, "give the folder to the gateway's user, and run recado doctor as that user", "nothing can be written: %s", err))
	}
	if mode := info.Mode().Perm(); mode&othersMay != 0 {
		findings = append(findings, warning(name, "chmod 700 "+path, "other users of this machine may look into %s: its mode is %04o", path, mode))
	}
	if len(findings) == 0 {
		findings = append(findings, ok(name, "%s can be written, and belongs to this user alone", path))
	}
	return append(findings, e.fileSystem(path)...)
}

// strangers is how many files with another owner are named.
const strangers = 3

// owned checks whether the folder belongs to this user, and its files to the owner of the folder: a command
// that ran as root has left files that the gateway can't write.
func owned(name, path string, info fs.FileInfo) []Finding {
	owner, known := ownerOf(info)
	if !known {
		return nil
	}
	var findings []Finding
	if me := os.Geteuid(); me != owner {
		findings = append(findings, warning(name, fmt.Sprintf("run recado doctor as the user of the gateway: sudo -u '#%d' recado doctor …", owner),
			"%s belongs to the user %d, and this is the user %d: what is said of writing is not true of the gateway", path, owner, me))
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return append(findings, wrong(name, "give the folder to the gateway's user", "it can't be read: %s", err))
	}
	var others []string
	for _, entry := range entries {
		about, err := entry.Info()
		if err != nil {
			continue // it is gone
		}
		if entry.Name() == "lost+found" {
			continue // the file system's own, where it begins in this folder
		}
		if of, _ := ownerOf(about); of != owner {
			others = append(others, entry.Name())
		}
	}
	if len(others) > 0 {
		named := strings.Join(others[:min(len(others), strangers)], ", ")
		findings = append(findings, wrong(name, fmt.Sprintf("chown -R %d %s", owner, path),
			"%d things in it have another owner, which the gateway may be unable to write: %s", len(others), named))
	}
	return findings
}

// fileSystem checks whether the folder is on a file system that is suitable for data.
func (e *examination) fileSystem(path string) []Finding {
	const name = "file system"
	system, err := lookAtFileSystem(path)
	if err != nil {
		return []Finding{warning(name, "look at it yourself: df -T "+path, "%s", err)}
	}
	return []Finding{e.fileSystemFinding(path, system)}
}

func (e *examination) fileSystemFinding(path string, system fileSystem) Finding {
	const name = "file system"
	const elsewhere = "let --data name a folder on a disk of this machine"
	switch {
	case system.isRemote() && !e.isPostgres():
		return wrong(name, elsewhere+", or use PostgreSQL", "%s is on %s: SQLite's locks and log don't work over a network, and the database can break", path, system.Kind)
	case system.isRemote():
		return warning(name, elsewhere, "%s is on %s: temporary files go over the network", path, system.Kind)
	case system.isMemory() && !e.isPostgres():
		return wrong(name, elsewhere, "%s is in memory (%s): everything is gone when this machine stops", path, system.Kind)
	case system.isLayer() && !e.isPostgres():
		return wrong(name, "mount a volume there", "%s is in the layer of a container: everything is gone when the container is removed", path)
	case system.Kind == "":
		return ok(name, "its kind is not known on this system; it must be a disk of this machine, not a network")
	}
	return ok(name, "%s", system.Kind)
}

const (
	gigabyte = 1 << 30
	// nearlyFull is what a gateway needs to write anything; below fewFree people should act, as
	// the dashboard says too.
	nearlyFull = 64 << 20
	fewFree    = gigabyte
	// percent5 divides the whole by it to get 5 %.
	percent5 = 20
)

// space says whether there is room.
func (e *examination) space(context.Context) []Finding {
	const name = "disk space"
	path := e.existing()
	free, all, err := health.DiskSpace(path)
	if err != nil {
		return []Finding{warning(name, "look at it yourself: df -h "+path, "it is not known: %s", err)}
	}
	system, err := lookAtFileSystem(path)
	if err != nil {
		system = fileSystem{}
	}
	return append([]Finding{spaceFinding(free, all)}, inodes(system)...)
}

func spaceFinding(free, all int64) Finding {
	const name = "disk space"
	const room = "make room, or move the data folder to a larger disk; --media-quota bounds the files of messages, --keep-messages the database"
	switch {
	case free < nearlyFull:
		return wrong(name, room, "%s of %s are free", bytesText(free), bytesText(all))
	case free < fewFree || free < all/percent5:
		return warning(name, room, "%s of %s are free", bytesText(free), bytesText(all))
	}
	return ok(name, "%s of %s are free", bytesText(free), bytesText(all))
}

func inodes(system fileSystem) []Finding {
	const name = "inodes"
	const room = "remove small files that nobody needs; each file of a message needs two"
	switch {
	case system.Inodes == 0: // there is no limit
		return nil
	case system.FreeInodes == 0:
		return []Finding{wrong(name, room, "the file system can have no more files")}
	case system.FreeInodes < system.Inodes/percent5:
		return []Finding{warning(name, room, "%d of %d are free", system.FreeInodes, system.Inodes)}
	}
	return []Finding{ok(name, "%d of %d are free", system.FreeInodes, system.Inodes)}
}

// bytesText is a number of bytes for people.
func bytesText(n int64) string {
	const mega = 1 << 20
	if n >= gigabyte {
		return fmt.Sprintf("%.1f GiB", float64(n)/gigabyte)
	}
	return fmt.Sprintf("%d MiB", n/mega)
}

// existing returns the data folder, or the nearest folder above it that exists.
func (e *examination) existing() string {
	path, err := filepath.Abs(e.config.Server.DataDir)
	if err != nil {
		return "."
	}
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

const (
	// tooFast: no disk is as fast as this unless its cache survives a loss of power. tooSlow is what
	// people notice.
	tooFast = 30 * time.Microsecond
	tooSlow = 50 * time.Millisecond
)

// fsync says how long a commit waits for the disk, and what that means.
func (e *examination) fsync(ctx context.Context) []Finding {
	const name = "fsync"
	if _, err := os.Stat(e.config.Server.DataDir); err != nil {
		return []Finding{ok(name, "there is no data folder yet")}
	}
	median, longest, err := measureSync(ctx, e.config.Server.DataDir, time.Now) //nolint:forbidigo // only the time that passes counts
	if err != nil {
		return []Finding{wrong(name, "look at the disk, and at the system's log", "it fails: %s", err)}
	}
	system, err := lookAtFileSystem(e.config.Server.DataDir)
	if err != nil {
		system = fileSystem{}
	}
	return []Finding{e.fsyncFinding(median, longest, system)}
}

func (e *examination) fsyncFinding(median, longest time.Duration, system fileSystem) Finding {
	const name = "fsync"
	took := fmt.Sprintf("the disk says after %s that data are written (at most %s)", rounded(median), rounded(longest))
	if system.Cache != "" {
		took += "; its cache is " + system.Cache
	}
	switch {
	case system.skipsCache() && !e.isPostgres():
		return wrong(name, "mount it without nobarrier and barrier=0",
			"the file system does not make the disk write its cache: what was acknowledged is lost when the power fails. %s", took)
	case median < tooFast && !e.isPostgres():
		return warning(name, "make sure that the disk, its controller or the host of this machine has a cache that survives a loss of power; if nobody knows, "+
			"pull the plug of a test machine: no program can find it out",
			"%s: that is faster than a disk can be without such a cache", took)
	case median > tooSlow:
		return warning(name, "use a faster disk: an SSD takes a few milliseconds",
			"%s: messages wait for it, each at least once", took)
	}
	return ok(name, "%s. That is plausible, and no proof: only pulling the plug shows whether it is true", took)
}

func rounded(d time.Duration) time.Duration {
	if d > time.Millisecond {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
