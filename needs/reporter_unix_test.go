//go:build unix

package needs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// startReporter starts the process that writes a report to the go command's output when that one has
// ended. It gets that output as its own: through /proc, or else the terminal.
func startReporter(report string) error {
	goCommand := os.Getppid()
	output, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", goCommand), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		var noTerminal error
		if output, noTerminal = os.OpenFile("/dev/tty", os.O_WRONLY, 0); noTerminal != nil {
			return errors.Join(err, noTerminal)
		}
	}
	defer func() { _ = output.Close() }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	reporter := exec.Command(self)
	reporter.Env = append(os.Environ(), asReporter+"="+strconv.Itoa(goCommand), reportVariable+"="+report)
	reporter.Stdout = output
	return reporter.Start()
}

// reportVariable has the report in the environment of the reporter.
const reportVariable = "RECADO_TEST_REPORT"

// reportAfter writes the report when a process has ended, or gives up after an hour.
func reportAfter(process string) {
	id, err := strconv.Atoi(process)
	if err != nil {
		return
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(time.Hour); syscall.Kill(id, 0) == nil; <-look.C {
		if time.Now().After(end) {
			return
		}
	}
	fmt.Print(os.Getenv(reportVariable))
}
