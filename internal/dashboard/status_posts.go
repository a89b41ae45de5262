// What the account shows to others for a day.

package dashboard

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/web"
)

// maxPost bounds the text of a status post, in characters, as the API does.
const maxPost = 700

// audience is who sees the status posts.
type audience struct{ gateway.StatusAudience }

// RuleWord is what the owner of the account has chosen.
func (a audience) RuleWord() web.Word {
	switch a.Rule {
	case gateway.AudienceOnly:
		return web.Word("some people only")
	case gateway.AudienceExcept:
		return web.Word("contacts, except some people")
	default:
		return web.Word("all contacts")
	}
}

// postStatus shows a text to the audience.
func (p *pages) postStatus(r *frame.Request, found gateway.Instance) error {
	text := strings.TrimSpace(r.PostFormValue("post"))
	if n := utf8.RuneCountInString(text); n == 0 || n > maxPost {
		return gateway.InvalidField("post", fmt.Sprintf("must have 1 to %d characters", maxPost))
	}
	background, err := strconv.ParseUint(strings.TrimPrefix(r.PostFormValue("background"), "#"), 16, 24)
	if err != nil {
		return gateway.InvalidField("background", "must be a colour as #RRGGBB")
	}
	look := gateway.StatusLook{Background: uint32(background), Font: gateway.FontSystem}
	repeat, err := repeatOf(r)
	if err != nil {
		return err
	}
	_, err = p.Messages.Send(r.Context(), messaging.Request{InstanceID: found.ID, To: gateway.Recipient{Chat: gateway.StatusChat}, Repeat: repeat},
		gateway.Content{Type: gateway.TypeText, Text: text, Look: &look})
	if err != nil {
		return err
	}
	return toAccount(r, found.ID, "status")
}
