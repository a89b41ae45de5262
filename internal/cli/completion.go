package cli

import (
	"os"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"github.com/recado-project/recado/internal/cli/terminal"
)

// completionCommand prints the script that makes a shell complete commands.
type completionCommand struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

// The shells ask the program itself: with the line in COMP_LINE, it prints the words
// that may come next.
const (
	bashCompletion = "complete -o default -o bashdefault -C recado recado"
	zshCompletion  = "autoload -U +X bashcompinit && bashcompinit\n" + bashCompletion
	fishCompletion = `function __complete_recado
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    recado
end
complete -f -c recado -a "(__complete_recado)"`
)

// Run prints it.
func (c completionCommand) Run(t terminal.Terminal) error {
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	t.Printf("%s\n", script)
	return nil
}

// answerCompletion answers a shell that asks for completion, and ends the program;
// otherwise it does nothing.
func answerCompletion(parser *kong.Kong) {
	if !isCompletion() {
		return
	}
	kongcompletion.Register(parser, kongcompletion.WithExitFunc(parser.Exit))
}

// isCompletion reports whether a shell asks for the words that may come next.
func isCompletion() bool { return os.Getenv("COMP_LINE") != "" }
