// Clients' look-ups of people.

package profile

import (
	"context"
	"strconv"
	"strings"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// maxUsyncUsers bounds the people in one request.
const maxUsyncUsers = 2000

// usyncQuery says what a request asks about each person.
type usyncQuery struct {
	protocols map[string]bool
	byLID     bool // the answer names people by LID, with their numbers beside
}

// iqUsync answers questions about people: whether they are registered, their LID,
// their devices, and what they say about themselves.
func (s *Service) iqUsync(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "usync")
	list, _ := wire.Child(request, "list")
	people := list.GetChildren()
	if len(people) > maxUsyncUsers {
		return nil, wire.ErrBadRequest
	}
	query, _ := wire.Child(request, "query")
	q := usyncQuery{protocols: map[string]bool{}}
	result := waBinary.Node{Tag: "result"}
	var answered []waBinary.Node
	for _, protocol := range query.GetChildren() {
		q.protocols[protocol.Tag] = true
		answered = append(answered, waBinary.Node{Tag: protocol.Tag})
		if protocol.Tag == "contact" && wire.AttrString(protocol, "addressing_mode") == "lid" {
			q.byLID = true
		}
	}
	if len(answered) > 0 {
		result.Content = answered
	}
	var users []waBinary.Node
	for _, person := range people {
		user, err := s.lookUp(ctx, c, q, person)
		if err != nil {
			return nil, err
		}
		users = append(users, user)
	}
	answer := waBinary.Node{Tag: "list"}
	if len(users) > 0 {
		answer.Content = users
	}
	return []waBinary.Node{{
		Tag: "usync",
		Attrs: waBinary.Attrs{
			"sid": request.Attrs["sid"], "mode": request.Attrs["mode"], "context": request.Attrs["context"],
			"index": "0", "last": "true",
		},
		Content: []waBinary.Node{result, answer},
	}}, nil
}

// lookUp answers for one person.
func (s *Service) lookUp(ctx context.Context, c account.Asker, q usyncQuery, person waBinary.Node) (waBinary.Node, error) {
	jid := wire.AttrJID(person, "jid")
	contact, byContact := wire.Child(person, "contact")
	if byContact && jid.IsEmpty() {
		jid = contactJID(wire.Content(contact))
	}
	found, err := s.config.Accounts.ByJID(ctx, jid)
	if err != nil {
		return waBinary.Node{}, err
	}
	user := waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": jid.ToNonAD()}}
	registered := found != nil && found.IsRegistered()
	if registered {
		s.config.Presences.Acquaint(c.Device.Account, found)
	}
	if byContact && registered {
		user.Attrs["jid"] = found.PN()
		if q.byLID {
			user.Attrs["jid"], user.Attrs["pn_jid"] = found.LIDJID(), found.PN()
		}
	}
	var about []waBinary.Node
	if q.protocols["contact"] {
		answer := waBinary.Node{Tag: "contact", Attrs: waBinary.Attrs{"type": "out"}}
		if registered {
			answer.Attrs["type"] = "in"
		}
		if query := wire.Content(contact); len(query) > 0 {
			answer.Content = query // clients match answers to questions by it
		}
		about = append(about, answer)
	}
	if registered {
		more, err := s.describe(ctx, c, q, jid, found)
		if err != nil {
			return waBinary.Node{}, err
		}
		about = append(about, more...)
	}
	if len(about) > 0 {
		user.Content = about
	}
	return user, nil
}

// describe answers the questions that are asked about registered people.
func (s *Service) describe(ctx context.Context, c account.Asker, q usyncQuery, asked types.JID, found *account.Account) ([]waBinary.Node, error) {
	var about []waBinary.Node
	// A client that asks by LID would take the LID in the answer for the LID of
	// that LID.
	if q.protocols["lid"] && asked.Server != types.HiddenUserServer {
		about = append(about, waBinary.Node{Tag: "lid", Attrs: waBinary.Attrs{"val": found.LIDJID()}})
	}
	if q.protocols["devices"] {
		if err := s.config.Holders.Observe(ctx, found, c.Device); err != nil {
			return nil, err
		}
		about = append(about, deviceList(found))
	}
	if q.protocols["status"] {
		shown, err := s.config.Accounts.Lets(ctx, found, account.PrivacyAbout, c.Device.Account)
		if err != nil {
			return nil, err
		}
		status := waBinary.Node{Tag: "status", Attrs: waBinary.Attrs{"t": "0"}}
		if shown {
			status.Content = []byte(found.AboutText())
		}
		about = append(about, status)
	}
	if picture := found.PictureID(); q.protocols["picture"] && picture != "" {
		shown, err := s.config.Accounts.Lets(ctx, found, account.PrivacyPicture, c.Device.Account)
		if err != nil {
			return nil, err
		}
		if shown {
			about = append(about, waBinary.Node{Tag: "picture", Attrs: waBinary.Attrs{"id": picture}})
		}
	}
	if name := found.Username(); q.protocols["username"] && name != "" {
		about = append(about, waBinary.Node{Tag: "username", Content: []byte(name)})
	}
	if q.protocols["disappearing_mode"] {
		duration := strconv.Itoa(found.Privacy().Disappearing)
		about = append(about, waBinary.Node{Tag: "disappearing_mode", Attrs: waBinary.Attrs{"duration": duration, "t": "0"}})
	}
	return about, nil
}

// deviceList builds the list of the phone and its linked devices.
func deviceList(of *account.Account) waBinary.Node {
	devices := []waBinary.Node{{Tag: "device", Attrs: waBinary.Attrs{"id": 0}}}
	for _, linked := range of.Companions() {
		devices = append(devices, waBinary.Node{
			Tag: "device", Attrs: waBinary.Attrs{"id": int(linked.ID), "key-index": linked.KeyIndex},
		})
	}
	return waBinary.Node{Tag: "devices", Content: []waBinary.Node{{Tag: "device-list", Content: devices}}}
}

// contactJID reads the number in a contact query: "+number", with or without a
// server.
func contactJID(query []byte) types.JID {
	digits := strings.TrimPrefix(string(query), "+")
	digits, _, _ = strings.Cut(digits, "@")
	return types.NewJID(digits, types.DefaultUserServer)
}
