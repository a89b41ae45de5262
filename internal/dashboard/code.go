package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/web"
)

// codeView is the page with code that uses an instance.
type codeView struct {
	instanceHead

	Operation, KeyMark string
	Samples            []reference.Sample
}

// sendText is the operation that the page shows.
const sendText = "sendText"

// showCode shows how to send with this instance.
func (p *pages) showCode(r *frame.Request, found gateway.Instance) error {
	all, err := p.Reference()
	if err != nil {
		return err
	}
	_, op, _, _ := all.Find(sendText)
	if op == nil {
		return errors.New("dashboard: the reference lacks " + sendText)
	}
	var body struct {
		To      string `json:"to"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal([]byte(op.Request), &body); err != nil {
		return fmt.Errorf("dashboard: read the example of %s: %w", sendText, err)
	}
	body.Message = r.Text(web.Word("Hello from Recado!"))
	written, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		return fmt.Errorf("dashboard: write the example of %s: %w", sendText, err)
	}
	value := func(parameter reference.Field) string {
		if parameter.Where == "path" { // its only one is the instance
			return found.ID
		}
		return reference.ExampleOf(parameter)
	}
	view := codeView{
		instanceHead: headOf(found, "code", r.Visitor.Actor.Role), Operation: sendText, KeyMark: reference.KeyMark,
		Samples: op.RequestTo(p.Origin(r.Request), value, string(written)).Samples(),
	}
	return r.Page("code", frame.View{Title: found.Name, Section: "instances", Body: view})
}
