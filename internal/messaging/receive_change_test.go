package messaging

import (
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Only the sender of a message edits or deletes it; in a group an administrator
// may delete what others sent.
func TestMayChange(t *testing.T) {
	t.Parallel()
	ana := gateway.Party{JID: "5511988887766@s.whatsapp.net", LID: "111@lid"}
	bruno := gateway.Party{JID: "5511977776655@s.whatsapp.net", LID: "222@lid"}
	group := gateway.Party{JID: "120363012345678901@g.us"}
	fromAna := gateway.Message{Chat: ana, Sender: ana}
	own := gateway.Message{Chat: ana, FromMe: true}
	inGroup := gateway.Message{Chat: group, Sender: ana}
	tests := map[string]struct {
		change  gateway.Change
		message gateway.Message
		want    bool
	}{
		"sender edits":                     {gateway.Change{Chat: ana, By: ana}, fromAna, true},
		"sender edits, known by LID alone": {gateway.Change{Chat: gateway.Party{LID: ana.LID}, By: gateway.Party{LID: ana.LID}}, fromAna, true},
		"sender deletes":                   {gateway.Change{Kind: gateway.ChangeDeleted, Chat: ana, By: ana}, fromAna, true},
		"we edit on the phone":             {gateway.Change{Chat: ana, FromMe: true}, own, true},
		"she edits ours":                   {gateway.Change{Chat: ana, By: ana}, own, false},
		"she deletes ours":                 {gateway.Change{Kind: gateway.ChangeDeleted, Chat: ana, By: ana}, own, false},
		"from another chat":                {gateway.Change{Chat: bruno, By: bruno}, fromAna, false},
		"member edits another's":           {gateway.Change{Chat: group, By: bruno}, inGroup, false},
		"member deletes another's":         {gateway.Change{Kind: gateway.ChangeDeleted, Chat: group, By: bruno}, inGroup, false},
		"administrator deletes another's":  {gateway.Change{Kind: gateway.ChangeDeleted, Chat: group, By: bruno, ByAdmin: true}, inGroup, true},
		"administrator edits another's":    {gateway.Change{Chat: group, By: bruno, ByAdmin: true}, inGroup, false},
		"no administrator outside groups":  {gateway.Change{Kind: gateway.ChangeDeleted, Chat: ana, By: ana, ByAdmin: true}, own, false},
		"she pins ours":                    {gateway.Change{Kind: gateway.ChangePin, Chat: ana, By: ana}, own, true},
		"a pin from another chat":          {gateway.Change{Kind: gateway.ChangePin, Chat: bruno, By: bruno}, own, false},
		"nobody":                           {gateway.Change{}, fromAna, false},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := mayChange(c.change, c.message); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
