package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/recado-project/recado/internal/cli/settings"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/doctor"
)

// doctorCommand looks at what a gateway with the same settings stands on.
type doctorCommand struct {
	serveFlags
}

// Run prints what was found, and fails if something is wrong.
func (c doctorCommand) Run(ctx context.Context, t terminal.Terminal, read *invocation) error {
	config, err := c.config()
	findings := doctor.Examine(ctx, doctor.Config{
		Server: config, Master: c.MasterSource(), Settings: ofSettings(err, read, os.Environ()), Now: t.Now,
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := printFindings(t, findings); err != nil {
		return err
	}
	wrong := 0
	for _, one := range findings {
		if one.State == doctor.Wrong {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d things are wrong", wrong, len(findings))
	}
	return nil
}

// ofSettings is what reading the settings has found.
func ofSettings(err error, read *invocation, environ []string) []doctor.Finding {
	const name = "settings"
	var findings []doctor.Finding
	for _, mistake := range mistakesOf(err) {
		findings = append(findings, doctor.Finding{Check: name, State: doctor.Wrong, Found: mistake, Do: "correct it; the gateway does not start with it"})
	}
	every, parserErr := newParser(&commands{}) // a variable may be that of another command
	if parserErr != nil {
		return append(findings, doctor.Finding{Check: name, State: doctor.Wrong, Found: parserErr.Error(), Do: "report it: it is a fault of the program"})
	}
	for _, unknown := range settings.UnknownVariables(every.Model, environment+"_", environ) {
		findings = append(findings, doctor.Finding{
			Check: name, State: doctor.Warning, Found: "the variable " + unknown, Do: "look for its name in docs/config.md, or remove it",
		})
	}
	if exposed := read.file.Exposed(); len(exposed) > 0 {
		findings = append(findings, doctor.Finding{
			Check: name, State: doctor.Warning, Do: "chmod o-r " + read.file.Path + ", or give them as variables",
			Found: "every user of this machine can read the secrets in " + read.file.Path + ": " + strings.Join(exposed, ", "),
		})
	}
	return findings
}

// mistakesOf are the texts of errors that were joined, or of a single one.
func mistakesOf(err error) []string {
	if err == nil {
		return nil
	}
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		return []string{err.Error()}
	}
	var all []string
	for _, one := range joined.Unwrap() {
		all = append(all, one.Error())
	}
	return all
}

// The colours of states on a terminal.
const (
	green, yellow, red = "\x1b[32m", "\x1b[33m", "\x1b[31m"
	uncoloured         = "\x1b[0m"
)

// printFindings prints a line for each finding; for people, what is to be done is below it.
func printFindings(t terminal.Terminal, findings []doctor.Finding) error {
	if t.JSON || !t.OutIsTTY {
		rows := make([][]string, len(findings))
		for i, one := range findings {
			rows[i] = []string{string(one.State), one.Check, one.Found, one.Do}
		}
		return t.Table(findings, nil, rows)
	}
	colours := map[doctor.State]string{doctor.OK: green, doctor.Warning: yellow, doctor.Wrong: red}
	for _, one := range findings {
		t.Printf("%s%-8s%s %s: %s\n", colours[one.State], one.State, uncoloured, one.Check, terminal.Cleaned(one.Found))
		if one.Do != "" {
			t.Printf("         → %s\n", terminal.Cleaned(one.Do))
		}
	}
	return nil
}
