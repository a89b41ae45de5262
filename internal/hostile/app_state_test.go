package hostile_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// The owner of an account can write anything into the settings that its devices share.
// The library that reads them panics about some of it. That must not stop the process, nor keep
// other settings from being read.
func TestSettingsWithoutSense(t *testing.T) {
	t.Parallel()
	value := func(value *waSyncAction.SyncActionValue) []byte {
		encoded, err := proto.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	long := strings.Repeat("x", 1_000)
	label := value(&waSyncAction.SyncActionValue{LabelEditAction: &waSyncAction.LabelEditAction{Name: &long, Color: new(int32(-1 << 31))}})
	put := value(&waSyncAction.SyncActionValue{LabelAssociationAction: &waSyncAction.LabelAssociationAction{Labeled: new(true)}})
	write := func(b *testkit.Phones) {
		for _, setting := range []struct {
			index []string
			value []byte
		}{
			{[]string{""}, nil},
			{[]string{appstate.IndexLabelEdit}, label},
			{[]string{appstate.IndexLabelEdit, ""}, label},
			{[]string{appstate.IndexLabelEdit, "1\x00\u202e" + long}, nil},
			{[]string{appstate.IndexLabelEdit, "2"}, label},
			{[]string{appstate.IndexLabelAssociationChat}, put},
			{[]string{appstate.IndexLabelAssociationChat, "2", "nobody"}, put},
			{[]string{appstate.IndexLabelAssociationChat, "2", "status@broadcast"}, put},
			{[]string{appstate.IndexLabelAssociationMessage, "2", customerNumber + "@s.whatsapp.net"}, put},
			{[]string{appstate.IndexLabelAssociationMessage, "2", customerNumber + "@s.whatsapp.net", long, "0", "0"}, put},
			{[]string{appstate.IndexStar}, nil},
			{[]string{appstate.IndexDeleteMessageForMe, "x"}, nil},
			{[]string{appstate.IndexMute}, nil},
			{[]string{appstate.IndexDeleteChat}, nil},
			{[]string{appstate.IndexClearChat}, nil},
			{[]string{appstate.IndexContact}, nil},
		} {
			b.SetRaw(t, shopNumber, string(appstate.WAPatchRegular), setting.index, setting.value)
		}
	}
	labelled := func(b *besieged) {
		t.Helper()
		// What is read at once with an entry without sense is lost with it; what is set later is
		// not.
		tries := 0
		testkit.Await(t, "a label without fault", func() bool {
			tries++
			b.Phones.SetLabel(t, shopNumber, "9", fmt.Sprintf("a good one, %s, %d", b.id, tries), 1)
			label, err := b.Client.GetLabel(t.Context(), b.id, "9")
			return err == nil && strings.HasPrefix(label.Name, "a good one, "+b.id)
		})
		page, err := b.Client.ListLabels(t.Context(), b.id, 1, 100)
		if err != nil || len(page.Data) == 0 {
			t.Fatalf("the labels are %+v, %v", page.Data, err)
		}
		for _, label := range page.Data {
			if label.LabelID == "" || label.Name == "" || len(label.LabelID) > gateway.MaxID || len(label.Name) > gateway.MaxLabelName || label.Color < 0 || strings.ContainsAny(label.LabelID, "\x00") {
				t.Errorf("a label is %.200q, named %.200q", label.LabelID, label.Name)
			}
		}
	}

	// While the instance is connected, one after another.
	b := besiege(t, "")
	write(b.Phones)
	b.unharmed(t)
	labelled(b)

	// At once, to a device that is linked later and reads everything.
	again := besieged{Gateway: b.Gateway, id: b.Link(t, shopNumber)}
	b.AwaitStatus(t, again.id, gateway.StatusConnected)
	labelled(&again)
}
