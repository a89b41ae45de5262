// Package describe describes the API's operations for its reference. The package api asks for it.
package describe

import (
	"net/http"
	"strings"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/reference"
)

// Reference describes an API by its document.
func Reference(document *contract.Document) (*reference.Reference, error) {
	made := new(reference.Reference)
	for about := range strings.SplitSeq(document.Info.Description, "\n\n") {
		made.About = append(made.About, reference.Text(about))
	}
	for _, tag := range document.Tags {
		shown := reference.Group{
			Name: tag.Name, Anchor: strings.ToLower(strings.ReplaceAll(tag.Name, " ", "-")), Description: reference.Text(tag.Description),
		}
		for _, op := range document.Operations() {
			if op.Tag != tag.Name {
				continue
			}
			described, err := newOperation(document, op)
			if err != nil {
				return nil, err
			}
			shown.Operations = append(shown.Operations, described)
		}
		made.Groups = append(made.Groups, shown)
	}
	for _, code := range contract.Codes() {
		made.Codes = append(made.Codes, newCode(code))
	}
	return made, nil
}

func newCode(explained contract.Code) reference.Code {
	status := contract.StatusOf(explained.Kind)
	return reference.Code{Name: explained.Name, Status: status, Text: http.StatusText(status), Meaning: reference.Text(explained.Meaning)}
}
