// Where a master key comes from.

package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// commandWait bounds how long a command may take to print the key.
const commandWait = 30 * time.Second

// Source says where a master key is. At most one field is set.
type Source struct {
	File    string // that has it
	Text    string // the key itself
	Command string // that prints it; the system's shell runs it
}

// Read reads the key; nil if the source names none. Its errors say what is wrong with the
// source, and nothing of the key.
func (s Source) Read(ctx context.Context) (*Key, error) {
	text := s.Text
	switch {
	case s == Source{}:
		return nil, nil //nolint:nilnil // there is no key, and that is no error
	case s.File != "" && s.Text != "" || s.File != "" && s.Command != "" || s.Text != "" && s.Command != "":
		return nil, errors.New("the master key is given in more than one way: choose the file, the variable or the command")
	case s.File != "":
		content, err := os.ReadFile(s.File)
		if err != nil {
			return nil, fmt.Errorf("read the master key: %w", err)
		}
		text = string(content)
	case s.Command != "":
		printed, err := s.run(ctx)
		if err != nil {
			return nil, err
		}
		text = printed
	}
	key, err := ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("the master key is not one: %w; `recado master-key new` prints one", err)
	}
	return key, nil
}

func (s Source) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandWait)
	defer cancel()
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	command := exec.CommandContext(ctx, shell[0], shell[1], s.Command) //nolint:gosec // the operator names the command
	command.WaitDelay = time.Second                                    // its children may hold its output
	var said bytes.Buffer
	command.Stderr = &said
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("the command of the master key failed: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return string(printed), nil
}
