// Buttons and lists, which phones do not show of a linked device: they go out as polls.

package evolution

import (
	"net/http"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
)

func (c *call) sendButtons() (any, error) {
	choices := dialect.Choices{Form: dialect.FormButtons, Text: []string{c.fields.text("title"), c.fields.text("description")}}
	buttons := c.fields.objects("buttons")
	if len(buttons) == 0 {
		return nil, missing("buttons")
	}
	for _, button := range buttons {
		var line string
		switch kind := button.text("type"); kind {
		case "reply", "":
			choices.Options = append(choices.Options, dialect.Choice{ID: button.text("id"), Label: button.text("displayText")})
			continue
		case "url":
			line = button.text("url")
		case "call":
			line = button.text("phoneNumber")
		case "copy":
			line = button.text("copyCode")
		case "pix":
			line = pixLine(button)
		default:
			return nil, refuse(http.StatusBadRequest, "buttons: the type "+cut(kind)+" is not one of reply, url, call, copy and pix")
		}
		if line == "" {
			return nil, refuse(http.StatusBadRequest, "buttons: one of the type "+button.text("type")+" says nothing")
		}
		if label := button.text("displayText"); label != "" {
			line = label + ": " + line
		}
		choices.Text = append(choices.Text, line)
	}
	return c.sendChoices(choices, c.fields.text("footer"))
}

// pixLine says what a button copies with which somebody is paid: the key, its kind, and whose it is.
func pixLine(button fields) string {
	key := button.text("key")
	if key == "" {
		return ""
	}
	kind := button.text("keyType")
	switch named := map[string]string{"phone": "telefone", "email": "e-mail", "random": "chave aleatória"}[strings.ToLower(kind)]; {
	case named != "":
		kind = " (" + named + ")"
	case kind != "":
		kind = " (" + strings.ToUpper(kind) + ")"
	}
	line := "Pix" + kind + ": " + key
	if name := button.text("name"); name != "" {
		line += "\n" + name
	}
	return line
}

func (c *call) sendList() (any, error) {
	choices := dialect.Choices{Form: dialect.FormList, Text: []string{c.fields.text("title"), c.fields.text("description")}, Prompt: c.fields.text("buttonText")}
	for _, section := range c.fields.objects("sections") {
		for _, row := range section.objects("rows") {
			choices.Options = append(choices.Options, dialect.Choice{ID: row.text("rowId"), Label: row.text("title"), Description: row.text("description")})
		}
	}
	if len(choices.Options) == 0 {
		return nil, missing("sections")
	}
	return c.sendChoices(choices, c.fields.text("footerText"))
}

func (c *call) sendChoices(choices dialect.Choices, footer string) (any, error) {
	if c.instance.Buttons == client.ButtonsRefuse && len(choices.Options) > 0 {
		return nil, refuse(http.StatusNotImplemented, "Phones do not show buttons and lists that a linked device sends, and the instance is set to refuse them: send a poll (sendPoll), or set the instance's buttons to poll")
	}
	choices.Text = append(choices.Text, footer)
	s, err := c.begin(client.PresenceComposing)
	if err != nil {
		return nil, err
	}
	choices.To, choices.Quote, choices.Key = s.to, s.quote, s.key
	return c.sent(choices.Send(c.ctx(), c.client, c.id()))
}

// chosenOf is what somebody has chosen: the name of its kind, and what stands under it.
func chosenOf(selection client.MessageSelection) (kind string, content object) {
	if dialect.FormOf(selection) == dialect.FormList {
		return "listResponseMessage", object{
			"title": selection.Text, "listType": 1, "singleSelectReply": object{"selectedRowId": selection.ID},
		}
	}
	return "buttonsResponseMessage", object{"selectedButtonId": selection.ID, "selectedDisplayText": selection.Text}
}

// answer is a vote that chooses, as a message of its own. Its identifier is that of the event: the platform's is not kept.
func (e translation) answer(read client.MessagePollVoteEvent) object {
	kind, content := chosenOf(*read.Selection)
	key := keyIn(read.Chat, e.event.ID, false)
	addParticipant(key, e.inGroup(read.Chat, read.From))
	return object{
		"key": key, "pushName": nameOf(read.From), "status": statusDelivered, "message": object{kind: content}, "messageType": kind,
		"contextInfo":      object{"stanzaId": read.MessageID, "quotedMessage": object{"pollCreationMessage": object{"name": read.Question}}},
		"messageTimestamp": e.event.At.Unix(), "instanceId": e.of.ID, "source": "unknown",
	}
}
