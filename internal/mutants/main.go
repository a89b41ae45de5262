// Command mutants checks the tests. It plants known faults in the code, one at a time, and
// runs the tests that should fail because of it. A fault that no test notices is a promise
// that no test checks.
//
// The faults are data: a room has those of its files in testdata/faults.txt. The files
// themselves are not changed: the compiler gets another version of one file.
//
//	go run ./internal/mutants             # all of them; takes a while
//	go run ./internal/mutants -run keys   # those whose names match
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// patience bounds the tests of one fault. A fault that makes them hang counts as noticed.
const patience = 4 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	pattern := flags.String("run", "", "plant only the faults whose names match this regular expression")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	all, err := read(os.DirFS(root))
	if err != nil {
		return err
	}
	var survivors, planted int
	var broken error
	for _, f := range all {
		if !wanted.MatchString(f.name) {
			continue
		}
		planted++
		began := time.Now() //nolint:forbidigo // how long it takes is for people, and nothing depends on it
		verdict, err := plant(ctx, root, f)
		if err != nil {
			broken, verdict = errors.Join(broken, fmt.Errorf("%s: %s: %w", f.at, f.name, err)), "broken"
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if verdict == survived {
			survivors++
		}
		if _, err := fmt.Fprintf(out, "%-9s %5.0fs  %s\n", verdict, time.Since(began).Seconds(), f.name); err != nil {
			return err
		}
	}
	if planted == 0 {
		return errors.New("no fault has such a name")
	}
	if broken != nil {
		return broken
	}
	if survivors > 0 {
		return fmt.Errorf("no test noticed %d of %d planted faults", survivors, planted)
	}
	_, err = fmt.Fprintf(out, "all %d planted faults were noticed\n", planted)
	return err
}
