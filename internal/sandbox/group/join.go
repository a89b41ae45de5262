// Who joins without being added: people with an invitation, and those who wait to be
// approved.

package group

import (
	"context"
	"fmt"
	"slices"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// invitationTime is how long an invitation for one person may be used.
const invitationTime = 3 * 24 * time.Hour

// SetAddable sets whether others may add an account to groups. Whom they may not add gets
// an invitation.
func (s *Book) SetAddable(ctx context.Context, number string, addable bool) error {
	of, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	u := s.accounts.NewUnit()
	if addable {
		u.Exec("DELETE FROM not_addable WHERE number = $1", of.Number)
	} else {
		u.Exec("INSERT INTO not_addable (number) VALUES ($1) ON CONFLICT DO NOTHING", of.Number)
	}
	return u.Commit(ctx)
}

// refusal builds the answer about an account, of, that another one, by, may not add: an error with an
// invitation, which it notes in the group. refused is false for all others.
func (s *Book) refusal(ctx context.Context, g *Group, of, by *account.Account) (node waBinary.Node, refused bool, err error) {
	found, err := database.Strings(ctx, s.db.Reader(), "SELECT number FROM not_addable WHERE number = $1", of.Number)
	if err != nil {
		return waBinary.Node{}, false, fmt.Errorf("group: look whether somebody may be added: %w", err)
	}
	addable := len(found) == 0
	if addable && by != nil {
		if addable, err = s.accounts.Lets(ctx, of, account.PrivacyGroups, by); err != nil {
			return waBinary.Node{}, false, err
		}
	}
	if addable {
		return waBinary.Node{}, false, nil
	}
	invited := invitation{Number: of.Number, Code: newInvite(), Expires: s.now().Add(invitationTime).Unix()}
	g.settle(of.Number)
	g.Invitations = append(g.Invitations, invited)
	node = participantNode(of, roleMember)
	node.Attrs["error"] = codePrivacy
	node.Content = []waBinary.Node{{Tag: "add_request", Attrs: waBinary.Attrs{"code": invited.Code, "expiration": invited.Expires}}}
	return node, true, nil
}

// joinByLink makes an account a member of the group that an invitation code leads to, or
// notes that it waits to be approved. Who is a member already stays one.
func (s *Book) joinByLink(ctx context.Context, who *account.Account, to *Group) (joined bool, err error) {
	if to.Has(who) {
		return true, nil
	}
	if !to.Approval {
		return true, s.join(ctx, who, to.ID)
	}
	_, err = s.changeGroup(ctx, to.ID, who, func(ctx context.Context, ch *groupChange) error {
		if slices.ContainsFunc(ch.next.Requests, func(r joinRequest) bool { return r.Number == who.Number }) {
			return nil
		}
		ch.next.Requests = append(ch.next.Requests, joinRequest{Number: who.Number, At: ch.book.now().Unix()})
		admins, err := ch.book.admins(ctx, ch.next)
		if err != nil {
			return err
		}
		return ch.notify(admins, waBinary.Node{
			Tag: "created_membership_requests", Attrs: waBinary.Attrs{"request_method": "invite_link"},
			Content: []waBinary.Node{{Tag: "requested_user", Attrs: waBinary.Attrs{"jid": who.LIDJID(), "phone_number": who.ShownPN()}}},
		})
	})
	return false, err
}

// join makes an account a member, as it asked for.
func (s *Book) join(ctx context.Context, who *account.Account, id string) error {
	var answer []waBinary.Node
	_, err := s.changeGroup(ctx, id, who, setMembers("add", []*account.Account{who}, &answer), func(context.Context, *groupChange) error {
		if answer[0].Attrs["error"] == codeFull {
			return wire.ErrFull
		}
		return nil
	})
	return err
}

// admins returns the accounts of a group's admins.
func (s *Book) admins(ctx context.Context, g *Group) ([]*account.Account, error) {
	people, err := s.People(ctx, g)
	return slices.DeleteFunc(people, func(of *account.Account) bool { return !g.IsAdmin(of) }), err
}

// iqJoinRequests answers with the people who wait to be approved. Only admins may ask.
func (s *Book) iqJoinRequests(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	found, err := s.administered(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	answer := waBinary.Node{Tag: "membership_approval_requests"}
	var waiting []waBinary.Node
	for _, request := range found.Requests {
		of, err := s.accounts.Ensure(ctx, request.Number)
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, waBinary.Node{Tag: "membership_approval_request", Attrs: waBinary.Attrs{
			"jid": of.LIDJID(), "phone_number": of.ShownPN(), "request_time": request.At, "request_method": "invite_link",
		}})
	}
	if len(waiting) > 0 {
		answer.Content = waiting
	}
	return []waBinary.Node{answer}, nil
}

// administered returns the group that a request is sent to. It refuses clients whose
// account is no admin of it.
func (s *Book) administered(ctx context.Context, c account.Asker, iq waBinary.Node) (*Group, error) {
	found, err := s.groupOf(ctx, c, iq)
	if err == nil && !found.IsAdmin(c.Device.Account) {
		return nil, wire.ErrForbidden
	}
	return found, err
}

// iqAnswerJoinRequests approves or rejects people who wait.
func (s *Book) iqAnswerJoinRequests(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	found, err := s.administered(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	request, _ := wire.Child(iq, "membership_requests_action")
	content := request.GetChildren()
	if len(content) != 1 || content[0].Tag != "approve" && content[0].Tag != "reject" {
		return nil, wire.ErrBadRequest
	}
	var people []*account.Account
	var answer []waBinary.Node
	for _, part := range content[0].GetChildrenByTag("participant") {
		of, err := s.accounts.ByJID(ctx, wire.AttrJID(part, "jid"))
		if err != nil {
			return nil, err
		}
		if of == nil {
			answer = append(answer, waBinary.Node{Tag: "participant", Attrs: waBinary.Attrs{"jid": part.Attrs["jid"], "error": codeNoPerson}})
			continue
		}
		people = append(people, of)
	}
	step := answerRequests(content[0].Tag == "approve", people, &answer)
	if _, err := s.changeGroup(ctx, found.ID, c.Device.Account, step); err != nil {
		return nil, groupRefusal(err)
	}
	return []waBinary.Node{{Tag: request.Tag, Content: []waBinary.Node{{Tag: content[0].Tag, Content: answer}}}}, nil
}

// answerRequests approves or rejects people. answer gets one node for each of them, with
// an error if it could not be done.
func answerRequests(approve bool, people []*account.Account, answer *[]waBinary.Node) groupStep {
	return func(ctx context.Context, ch *groupChange) error {
		var approved []*account.Account
		for _, of := range people {
			node := participantNode(of, roleMember)
			waits := func(r joinRequest) bool { return r.Number == of.Number }
			switch {
			case !slices.ContainsFunc(ch.next.Requests, waits):
				node.Attrs["error"] = codeNoPerson
			case approve && len(ch.next.Members)+len(approved) >= ch.next.limit():
				node.Attrs["error"] = codeFull
			case approve:
				approved = append(approved, of)
			default:
				ch.next.Requests = slices.DeleteFunc(ch.next.Requests, waits)
				admins, err := ch.book.admins(ctx, ch.next)
				if err != nil {
					return err
				}
				err = ch.notify(admins, waBinary.Node{
					Tag:     "revoked_membership_requests",
					Content: []waBinary.Node{{Tag: "participant", Attrs: waBinary.Attrs{"jid": of.LIDJID(), "phone_number": of.ShownPN()}}},
				})
				if err != nil {
					return err
				}
			}
			*answer = append(*answer, node)
		}
		if len(approved) == 0 {
			return nil
		}
		before, err := ch.book.People(ctx, ch.next)
		if err != nil {
			return err
		}
		for _, of := range approved {
			ch.next.changeMember("add", of)
			ch.next.settle(of.Number)
		}
		if err := ch.notify(before, membersNode("add", ch.next, approved)); err != nil {
			return err
		}
		return ch.book.welcomeToGroup(ctx, ch.Unit, ch.next, ch.by, approved, "")
	}
}

// invitedBy returns the group that a request is sent to, if the client's account has this
// invitation to it.
func (s *Book) invitedBy(ctx context.Context, c account.Asker, iq waBinary.Node, code string) (*Group, error) {
	found, err := s.Find(ctx, wire.AttrJID(iq, "to").User)
	if err != nil {
		return nil, err
	}
	if found == nil || !found.invites(c.Device.Account, code, s.now()) {
		return nil, wire.ErrLinkGone
	}
	return found, nil
}

func (g *Group) invites(who *account.Account, code string, now time.Time) bool {
	return slices.ContainsFunc(g.Invitations, func(i invitation) bool {
		return i.Number == who.Number && i.Code == code && i.Expires > now.Unix()
	})
}

// iqAccept makes the account a member by an invitation of its own.
func (s *Book) iqAccept(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "accept")
	found, err := s.invitedBy(ctx, c, iq, wire.AttrString(request, "code"))
	if err != nil {
		return nil, err
	}
	if err := s.join(ctx, c.Device.Account, found.ID); err != nil {
		return nil, groupRefusal(err)
	}
	return []waBinary.Node{{Tag: "group", Attrs: waBinary.Attrs{"jid": found.JID()}}}, nil
}

// Join lets a phone follow the link of a group, or an invitation of its own. It reports
// whether the phone is a member now; if not, it waits to be approved.
func (s *Book) Join(ctx context.Context, number, code string) (joined bool, err error) {
	who, err := s.personIn(ctx, "number", number)
	if err != nil {
		return false, err
	}
	found, err := s.invited(ctx, code)
	if err != nil {
		return false, err
	}
	if found != nil {
		joined, err = s.joinByLink(ctx, who, found)
		return joined, asRefusal(err)
	}
	all, err := s.all(ctx, "")
	if err != nil {
		return false, err
	}
	for _, g := range all {
		if g.invites(who, code, s.now()) {
			return true, asRefusal(s.join(ctx, who, g.ID))
		}
	}
	return false, refusal.Invalidf("invite", "leads to no group")
}

// asRefusal turns a refusal that is meant for clients into one for people.
func asRefusal(err error) error {
	if err == wire.ErrFull { //nolint:errorlint // the value itself
		return refusal.Conflictf("the group is full")
	}
	return err
}
