package reference

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
)

// newOperation describes an operation for the page.
func newOperation(document *contract.Document, op contract.Operation) (operation, error) {
	documented := document.Documented(op)
	fields := fieldLister{registry: document.Components.Schemas}
	status := op.SuccessStatus()
	shown := operation{
		ID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Status: status, StatusText: http.StatusText(status), Headers: fields.headers(documented, status),
		Stream: op.Stream, Refusals: refusalsOf(op),
	}
	switch op.Audience {
	case contract.Partners:
		shown.Audience = "Needs a partner key."
	case contract.Everybody:
		shown.Audience = "Needs no API key."
	case contract.KeyHolders:
	}
	for _, parameter := range documented.Parameters {
		shown.Parameters = append(shown.Parameters, fields.parameter(parameter))
	}
	var err error
	body := ""
	if op.Body != nil {
		shown.Body = fields.list("", op.Body)
		if body, err = prettySample(contract.Sample(op.Body)); err != nil {
			return operation{}, fmt.Errorf("reference: write example of %s: %w", op.ID, err)
		}
	}
	shown.Request = commandLine(op, documented.Parameters, body)
	if op.Answer != nil {
		shown.Answer = fields.list("", op.Answer)
		for i := range shown.Answer {
			shown.Answer[i].Required = false // a rule for requests
		}
		if shown.Example, err = prettySample(contract.Sample(op.Answer)); err != nil {
			return operation{}, fmt.Errorf("reference: write example of %s: %w", op.ID, err)
		}
	}
	return shown, nil
}

// refusalsOf are the codes that an operation may be refused with, in the order of
// their statuses.
func refusalsOf(op contract.Operation) []code {
	refused := op.RefusalCodes()
	var refusals []code
	for _, explained := range contract.Codes() {
		if slices.Contains(refused, explained.Name) {
			refusals = append(refusals, newCode(explained))
		}
	}
	return refusals
}

// commandLine is how curl makes the request, with the examples of the document.
func commandLine(op contract.Operation, parameters []*huma.Param, body string) string {
	address := contract.OriginMark + op.Path
	for _, parameter := range parameters {
		if parameter.In == "path" && len(parameter.Schema.Examples) > 0 {
			address = strings.ReplaceAll(address, "{"+parameter.Name+"}", fmt.Sprint(parameter.Schema.Examples[0]))
		}
	}
	var line strings.Builder
	line.WriteString("curl ")
	if op.Method != http.MethodGet && (op.Method != http.MethodPost || body == "") { // the method that curl uses by itself
		line.WriteString("-X " + op.Method + " ")
	}
	line.WriteString(address)
	if op.Audience != contract.Everybody {
		line.WriteString(" \\\n  -H 'x-api-key: rcd_…'")
	}
	if body != "" {
		line.WriteString(" \\\n  -H 'content-type: application/json' \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'")
	}
	return line.String()
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
