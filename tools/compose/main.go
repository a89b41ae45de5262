// Command compose reads a file of Docker Compose as Compose itself does: it checks it
// against the schema, puts variables in, and prints the services as JSON. Tests call it; it
// is a module of its own because the gateway needs none of this.
//
//	compose FILE [NAME=VALUE …]
//
// The variables are those of the arguments alone.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: compose FILE [NAME=VALUE …]")
	}
	file, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	variables := types.Mapping{}
	for _, argument := range args[1:] {
		name, value, ok := strings.Cut(argument, "=")
		if !ok {
			return fmt.Errorf("%s is no NAME=VALUE", argument)
		}
		variables[name] = value
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: filepath.Dir(file), ConfigFiles: []types.ConfigFile{{Filename: file}}, Environment: variables,
	}, func(o *loader.Options) {
		o.SetProjectName("recado", false)
		o.Profiles = []string{"*"}
	})
	if err != nil {
		return err
	}
	output, err := project.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(output, '\n'))
	return err
}
