// Package group finds and changes groups, answers clients' requests about them, and
// notifies their members' devices of changes.
package group

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
)

// role says what a member may do in a group.
type role int

const (
	roleMember role = iota
	roleAdmin
	roleOwner
)

// String returns the role as nodes name it. It is "" for an ordinary member.
func (r role) String() string {
	switch r {
	case roleAdmin:
		return "admin"
	case roleOwner:
		return "superadmin"
	default:
		return ""
	}
}

// member is a member of a group.
type member struct {
	Number string `json:"number"`
	Role   role   `json:"role"`
}

// edition is a text of a group, with its author and the time in Unix seconds.
type edition struct {
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
	By   string `json:"by"` // a number
	At   int64  `json:"at"`
}

// encodedEdition is an edition in JSON, which has no form for text that is not UTF-8.
// Raw has the bytes of such a text.
type encodedEdition struct {
	*plainEdition

	Raw []byte `json:"raw,omitempty"`
}

type plainEdition edition

// MarshalJSON implements json.Marshaler.
func (e edition) MarshalJSON() ([]byte, error) {
	kept := encodedEdition{plainEdition: (*plainEdition)(&e)}
	if !utf8.ValidString(e.Text) {
		kept.Raw = []byte(e.Text)
	}
	return json.Marshal(kept)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *edition) UnmarshalJSON(raw []byte) error {
	kept := encodedEdition{plainEdition: (*plainEdition)(e)}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return err
	}
	if kept.Raw != nil {
		e.Text = string(kept.Raw)
	}
	return nil
}

// Group is a group at one moment. It is never modified: each change makes a new
// value.
type Group struct {
	ID           string   `json:"id"` // the user part of the JID
	Subject      edition  `json:"subject"`
	Description  edition  `json:"description"`
	Owner        string   `json:"owner"` // the number of the account that created it
	CreatedAt    int64    `json:"createdAt"`
	Announcement bool     `json:"announcement"`      // only admins may write
	Locked       bool     `json:"locked"`            // only admins may change subject and description
	AdminsAdd    bool     `json:"adminsAdd"`         // only admins may add members
	Approval     bool     `json:"approval"`          // people who join by invitation must be approved
	Ephemeral    int      `json:"ephemeral"`         // seconds until messages disappear; 0: never
	Picture      string   `json:"picture,omitempty"` // the hash of its file
	Invite       string   `json:"invite"`
	Revoked      []string `json:"revoked,omitempty"` // invitation codes that led here before
	Version      int      `json:"version"`
	Limit        int      `json:"limit,omitempty"` // how many members it may have; 0: the platform's limit

	Community   bool          `json:"community,omitempty"`   // it is the parent of other groups
	Announces   bool          `json:"announces,omitempty"`   // it is the group in which its community announces
	Parent      string        `json:"parent,omitempty"`      // the ID of the community that it belongs to
	Requests    []joinRequest `json:"requests,omitempty"`    // people who wait to be approved
	Invitations []invitation  `json:"invitations,omitempty"` // for people who could not be added

	Members []member `json:"members"`
}

// joinRequest is somebody who used an invitation and waits to be approved.
type joinRequest struct {
	Number string `json:"number"`
	At     int64  `json:"at"` // Unix seconds
}

// invitation is for one person, whom a member could not add.
type invitation struct {
	Number  string `json:"number"`
	Code    string `json:"code"`
	Expires int64  `json:"expires"` // Unix seconds
}

// limit is how many members the group may have.
func (g *Group) limit() int {
	if g.Limit > 0 {
		return g.Limit
	}
	return maxMembers
}

// JID is the group's address.
func (g *Group) JID() types.JID { return types.NewJID(g.ID, types.GroupServer) }

func (g *Group) index(number string) int {
	return slices.IndexFunc(g.Members, func(m member) bool { return m.Number == number })
}

// Has reports whether the account is a member.
func (g *Group) Has(of *account.Account) bool { return g.index(of.Number) >= 0 }

// IsAdmin reports whether the account is an admin of the group, or its owner.
func (g *Group) IsAdmin(of *account.Account) bool {
	i := g.index(of.Number)
	return i >= 0 && g.Members[i].Role != roleMember
}

// MayPin reports whether an account may pin messages: where only admins change what the group
// is, only they may.
func (g *Group) MayPin(of *account.Account) bool {
	return g.Has(of) && (!g.Locked || g.IsAdmin(of))
}

// clone returns a copy for the next version of the group.
func (g *Group) clone() *Group {
	next := *g
	next.Members = slices.Clone(g.Members)
	next.Requests = slices.Clone(g.Requests)
	next.Invitations = slices.Clone(g.Invitations)
	next.Revoked = slices.Clone(g.Revoked)
	next.Version++
	return &next
}

func (g *Group) version() string { return strconv.Itoa(g.Version) }

// newGroupID draws the ID of a group.
func newGroupID() (string, error) {
	const prefix, span = "120363", 1_000_000_000_000
	n, err := rand.Int(rand.Reader, big.NewInt(span))
	if err != nil {
		return "", fmt.Errorf("group: draw group id: %w", err)
	}
	return fmt.Sprintf("%s%012d", prefix, n), nil
}
