//go:build linux

// What programs ask of the disk is counted here.

package disk

import (
	"sync"
	"sync/atomic"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Counts says what programs have asked of a disk. They depend on what the programs do, and
// not on how fast the machine is.
type Counts struct {
	Syncs  int64 // of files and of folders
	Writes int64 // calls that write to a file
	Bytes  int64 // that these calls have written
}

// Minus returns what was counted since before.
func (c Counts) Minus(before Counts) Counts {
	return Counts{Syncs: c.Syncs - before.Syncs, Writes: c.Writes - before.Writes, Bytes: c.Bytes - before.Bytes}
}

// Counts returns what was counted since Mount; Restart does not begin anew. It is safe for
// concurrent use, also while programs write.
func (d *Disk) Counts() Counts {
	c := &d.tree.counters
	return Counts{Syncs: c.syncs.Load(), Writes: c.writes.Load(), Bytes: c.bytes.Load()}
}

// counters are the running Counts.
type counters struct {
	syncs, writes, bytes atomic.Int64

	mu   sync.Mutex
	goOn map[uint64]uint64 // by file: where the rest of a call would begin
}

// write counts what the kernel writes for a program. It cuts a call that begins within a
// page in two at the end of that page, unless it has the page in memory; the second part is
// no call of its own.
func (c *counters) write(input *fuse.WriteIn) {
	c.bytes.Add(int64(input.Size))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.goOn == nil {
		c.goOn = map[uint64]uint64{}
	}
	rest, cut := c.goOn[input.NodeId]
	delete(c.goOn, input.NodeId)
	if cut && rest == input.Offset {
		return
	}
	c.writes.Add(1)
	if end := input.Offset + uint64(input.Size); input.Offset%page != 0 && end%page == 0 {
		c.goOn[input.NodeId] = end
	}
}

// counted counts the writes on their way to the files. It does not count what the kernel
// writes by itself, whenever it likes, because a program has changed a file in its mapped
// memory; the files themselves could not tell that apart.
type counted struct {
	fuse.RawFileSystem

	counters *counters
}

// Writev counts a write, and passes it on.
func (c counted) Writev(cancel <-chan struct{}, input *fuse.WriteIn, content [][]byte) (uint32, fuse.Status) {
	if input.WriteFlags&fuse.WRITE_CACHE == 0 {
		c.counters.write(input)
	}
	return c.RawFileSystem.Writev(cancel, input, content)
}
