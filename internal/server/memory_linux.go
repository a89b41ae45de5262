// The pages of the program's own file go back to the system.

package server

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetProgram gives the pages of the program's file back: a start reads most of them,
// and few are needed again. The system still has them, and maps those that are used anew.
func forgetProgram() error {
	areas, err := programAreas("/proc/self/smaps", "/proc/self/exe")
	if err != nil {
		return fmt.Errorf("look for the pages of the program: %w", err)
	}
	for _, area := range areas {
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, area.start, area.end-area.start, unix.MADV_DONTNEED); failed != 0 {
			return fmt.Errorf("give back the pages of the program: %w", failed)
		}
	}
	return nil
}

// area is a part of the process's memory.
type area struct{ start, end uintptr }

// programAreas returns the areas that are the program's file and nothing else: they can't
// be written, and no page of them differs from the file, as one would that the loader has
// changed (proc(5): smaps).
func programAreas(smaps, exe string) ([]area, error) {
	program, err := os.Readlink(exe)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(smaps) //nolint:gosec // the process's own
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	var areas []area
	var now *area // of the program, until something says that it is not only the file
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 5 && !strings.HasSuffix(fields[0], ":"):
			now = nil
			from, to, _ := strings.Cut(fields[0], "-")
			start, failed := strconv.ParseUint(from, 16, 64)
			end, failedToo := strconv.ParseUint(to, 16, 64)
			if failed == nil && failedToo == nil && (fields[1] == "r-xp" || fields[1] == "r--p") && strings.HasSuffix(lines.Text(), " "+program) {
				now = &area{uintptr(start), uintptr(end)}
			}
		case now != nil && len(fields) >= 2 && fields[0] == "Anonymous:" && fields[1] == "0":
			areas = append(areas, *now)
		}
	}
	return areas, lines.Err()
}
