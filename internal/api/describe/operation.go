package describe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/reference"
)

// newOperation describes an operation.
func newOperation(document *contract.Document, op contract.Operation) (reference.Operation, error) {
	documented := document.Documented(op)
	fields := fieldLister{registry: document.Components.Schemas}
	status := op.SuccessStatus()
	described := reference.Operation{
		ID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: reference.Text(op.Description),
		Destructive: op.Destructive || op.Method == http.MethodDelete,
		Status:      status, StatusText: http.StatusText(status), Headers: fields.headers(documented, status),
		Stream: op.Stream, Refusals: refusalsOf(op),
	}
	switch op.Audience {
	case contract.Partners:
		described.Audience = reference.Partners
	case contract.Everybody:
		described.Audience = reference.Everybody
	case contract.KeyHolders:
	}
	for _, parameter := range documented.Parameters {
		described.Parameters = append(described.Parameters, fields.parameter(parameter))
	}
	var err error
	if op.Body != nil {
		described.Body = fields.list("", op.Body)
		if described.Request, err = prettySample(contract.Sample(op.Body)); err != nil {
			return reference.Operation{}, fmt.Errorf("describe: write example of %s: %w", op.ID, err)
		}
	}
	if op.Answer != nil {
		described.Answer = fields.list("", op.Answer)
		for i := range described.Answer {
			described.Answer[i].Required = false // a rule for requests
		}
		if described.Example, err = prettySample(contract.Sample(op.Answer)); err != nil {
			return reference.Operation{}, fmt.Errorf("describe: write example of %s: %w", op.ID, err)
		}
	}
	return described, nil
}

// refusalsOf are the codes that an operation may be refused with, in the order of
// their statuses.
func refusalsOf(op contract.Operation) []reference.Code {
	refused := op.RefusalCodes()
	var refusals []reference.Code
	for _, explained := range contract.Codes() {
		if slices.Contains(refused, explained.Name) {
			refusals = append(refusals, newCode(explained))
		}
	}
	return refusals
}

// prettySample writes a sample as indented JSON.
func prettySample(sample any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(sample); err != nil {
		return "", err
	}
	return strings.TrimSpace(text.String()), nil
}
