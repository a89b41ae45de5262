package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/sdks"
)

// codeView is the page with code that uses an instance.
type codeView struct {
	instanceHead

	Operation, KeyMark string
	// Curl is the request as a command, Environment what the programs read.
	Curl, Environment string
	Programs          []program
}

// program sends a text with one of the clients: the file that CI runs, with the instance of the page.
type program struct{ ID, Language, Code string }

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
	origin := p.Origin(r.Request)
	view := codeView{
		instanceHead: headOf(found, "code", r.Visitor.Actor.Role), Operation: sendText, KeyMark: reference.KeyMark,
		Curl:        op.RequestTo(origin, value, string(written)).Samples()[0].Code,
		Environment: "export RECADO_URL='" + origin + "'\nexport RECADO_API_KEY='" + reference.KeyMark + "'",
	}
	for _, language := range sdks.Languages() {
		view.Programs = append(view.Programs, program{language.ID, language.Name, language.Send(found.ID)})
	}
	return r.Page("code", frame.View{Title: found.Name, Section: "instances", Body: view})
}
