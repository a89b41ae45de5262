// Whose a file is, where the system tells.

//go:build unix

package doctor

import (
	"io/fs"
	"syscall"
)

func ownerOf(info fs.FileInfo) (user int, known bool) {
	about, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(about.Uid), true
}
