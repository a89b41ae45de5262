// How the processes of the browser end on Linux: as one group, and with the tests.

package browser

import (
	"os/exec"
	"syscall"
)

// alone puts the program and its children into a group, and lets it end with the tests
// even where they are killed.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup ends the program and its children.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
