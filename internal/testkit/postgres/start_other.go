//go:build !unix

package postgres

import "errors"

func (*cluster) start(string, *cluster) error {
	return errors.New("only known on Unix")
}
