// Messages with buttons, with a list or with a link. Phones do not show the first two of a linked device: they become
// polls.

package cloud

import (
	"encoding/json"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
)

type interactive struct {
	Type   string             `json:"type"`
	Header *interactiveHeader `json:"header"`
	Body   *interactiveText   `json:"body"`
	Footer *interactiveText   `json:"footer"`
	Action json.RawMessage    `json:"action"`
}

type interactiveText struct {
	Text string `json:"text"`
}

// interactiveHeader is a text, or a file that stands above.
type interactiveHeader struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Image    *file  `json:"image"`
	Video    *file  `json:"video"`
	Document *file  `json:"document"`
}

// paragraphs are what stands above what can be chosen.
func (i *interactive) paragraphs() (parts []string) {
	if i.Header != nil && i.Header.Text != "" {
		parts = append(parts, i.Header.Text)
	}
	for _, part := range []*interactiveText{i.Body, i.Footer} {
		if part != nil && part.Text != "" {
			parts = append(parts, part.Text)
		}
	}
	return parts
}

// action reads the action. Some clients write it as a text.
func (i *interactive) action(into any) error {
	encoded := []byte(i.Action)
	var inText string
	if json.Unmarshal(encoded, &inText) == nil {
		encoded = []byte(inText)
	}
	if err := json.Unmarshal(encoded, into); err != nil {
		return missing("interactive.action")
	}
	return nil
}

func sendInteractive(c *call, out *outgoing, to string) (client.Sent, error) {
	if out.Interactive == nil {
		return client.Sent{}, missing("interactive")
	}
	switch out.Interactive.Type {
	case "cta_url":
		return sendLink(c, out, to)
	case "button":
		return sendButtons(c, out, to)
	case "list":
		return sendList(c, out, to)
	default:
		return client.Sent{}, notHere(numberUnsupported, "Interactive messages of the type "+shortened(out.Interactive.Type)+" can't be sent through this gateway: use button, list or cta_url.")
	}
}

// linkAction is what a button with a link does.
type linkAction struct {
	Parameters struct {
		Text string `json:"display_text"`
		URL  string `json:"url"`
	} `json:"parameters"`
}

// sendLink sends a button with a link as a text with the link.
func sendLink(c *call, out *outgoing, to string) (client.Sent, error) {
	var action linkAction
	if err := out.Interactive.action(&action); err != nil || action.Parameters.URL == "" {
		return client.Sent{}, missing("interactive.action.parameters.url")
	}
	link := action.Parameters.URL
	if action.Parameters.Text != "" {
		link = action.Parameters.Text + ": " + link
	}
	return c.sendText(out, to, strings.Join(append(out.Interactive.paragraphs(), link), "\n\n"), true)
}

func sendButtons(c *call, out *outgoing, to string) (client.Sent, error) {
	var action struct {
		Buttons []struct {
			Reply struct {
				ID    loose `json:"id"`
				Title loose `json:"title"`
			} `json:"reply"`
		} `json:"buttons"`
	}
	if err := out.Interactive.action(&action); err != nil {
		return client.Sent{}, err
	}
	choices := dialect.Choices{Form: dialect.FormButtons}
	for _, button := range action.Buttons {
		choices.Options = append(choices.Options, dialect.Choice{ID: string(button.Reply.ID), Label: string(button.Reply.Title)})
	}
	if len(choices.Options) == 0 {
		return client.Sent{}, missing("interactive.action.buttons")
	}
	return c.sendChoices(out, to, choices)
}

func sendList(c *call, out *outgoing, to string) (client.Sent, error) {
	var action struct {
		Button   string `json:"button"`
		Sections []struct {
			Rows []struct {
				ID          loose  `json:"id"`
				Title       loose  `json:"title"`
				Description string `json:"description"`
			} `json:"rows"`
		} `json:"sections"`
	}
	if err := out.Interactive.action(&action); err != nil {
		return client.Sent{}, err
	}
	choices := dialect.Choices{Form: dialect.FormList, Prompt: action.Button}
	for _, section := range action.Sections {
		for _, row := range section.Rows {
			choices.Options = append(choices.Options, dialect.Choice{ID: string(row.ID), Label: string(row.Title), Description: row.Description})
		}
	}
	if len(choices.Options) == 0 {
		return client.Sent{}, missing("interactive.action.sections")
	}
	return c.sendChoices(out, to, choices)
}

// sendChoices sends choices, below the file of the header if there is one.
func (c *call) sendChoices(out *outgoing, to string, choices dialect.Choices) (client.Sent, error) {
	if c.instance.Buttons == client.ButtonsRefuse {
		return client.Sent{}, notHere(numberUnsupported, "Phones do not show buttons and lists that a linked device sends, and the instance is set to refuse them: write the choices into a text, or set the instance's buttons to poll.")
	}
	choices.To, choices.Quote, choices.Data, choices.Text = to, out.quoted(), string(out.Data), out.Interactive.paragraphs()
	if header := out.Interactive.Header; header != nil {
		if send := map[string]sender{typeImage: sendImage, typeVideo: sendVideo, typeDocument: sendDocument}[header.Type]; send != nil {
			choices.Above = func(quote string) error {
				_, err := send(c, &outgoing{Context: &repliedTo{quote}, Data: out.Data, Image: header.Image, Video: header.Video, Document: header.Document}, to)
				return err
			}
		}
	}
	sent, err := choices.Send(c.http.Context(), c.api, c.instance.InstanceID)
	return sent, err
}

// incomingInteractive is what somebody has chosen.
type incomingInteractive struct {
	Type   string       `json:"type"`
	Button *choiceReply `json:"button_reply,omitempty"`
	List   *choiceReply `json:"list_reply,omitempty"`
}

type choiceReply struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// newChosen makes what somebody has chosen.
func newChosen(selection client.MessageSelection) *incomingInteractive {
	reply := &choiceReply{selection.ID, selection.Text}
	if dialect.FormOf(selection) == dialect.FormList {
		return &incomingInteractive{Type: "list_reply", List: reply}
	}
	return &incomingInteractive{Type: "button_reply", Button: reply}
}
