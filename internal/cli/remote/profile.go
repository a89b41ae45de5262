// The account itself: profile, privacy, blocks.

package remote

import (
	"context"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Profile are the commands about the profile.
type Profile struct {
	Show showProfileCommand `cmd:"" help:"Show what others see of the account."`
	Set  setProfileCommand  `cmd:"" help:"Change the name, the line about itself and the picture of the account."`
}

type showProfileCommand struct{ InstanceFlag }

// Run shows the profile.
func (c showProfileCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	profile, err := on.Gateway.GetProfile(ctx, on.ID)
	return printProfile(t.Unless(err), profile)
}

// printProfile prints a profile.
func printProfile(t terminal.Terminal, profile client.Profile) error {
	pairs := []terminal.Pair{
		{"id", profile.ID}, {"lid", terminal.OrNone(profile.LID)}, {"name", profile.Name}, {"about", profile.About}, {"picture", terminal.OrNone(profile.Picture)},
	}
	if business := profile.Business; business != nil {
		pairs = append(pairs, terminal.Pair{"address", business.Address}, terminal.Pair{"email", business.Email},
			terminal.Pair{"categories", strings.Join(business.Categories, ", ")})
		for _, hours := range business.Hours {
			pairs = append(pairs, terminal.Pair{hours.Day, strings.TrimSpace(hours.Mode + " " + hours.Opens + " " + hours.Closes)})
		}
	}
	return t.Fields(profile, pairs...)
}

type setProfileCommand struct {
	InstanceFlag
	Name    *string `help:"The name that the account goes by." env:"-"`
	About   *string `help:"What it says about itself; empty removes it." env:"-"`
	Picture *string `help:"URL of its picture; empty removes it." env:"-"`
}

// Run changes the profile.
func (c setProfileCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	change := client.ProfileChange{Name: c.Name, About: OrNull(c.About), Picture: OrNull(c.Picture)}
	if change == (client.ProfileChange{}) {
		return terminal.WrongUsage("say what to change: --name, --about or --picture")
	}
	profile, err := on.Gateway.ChangeProfile(ctx, on.ID, change)
	return printProfile(t.Unless(err), profile)
}

// Privacy are the commands about privacy settings.
type Privacy struct {
	Show showPrivacyCommand `cmd:"" help:"Show what the account lets others see and do."`
	Set  setPrivacyCommand  `cmd:"" help:"Change what the account lets others see and do."`
}

type showPrivacyCommand struct{ InstanceFlag }

// Run shows the settings.
func (c showPrivacyCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	privacy, err := on.Gateway.GetPrivacy(ctx, on.ID)
	return printPrivacy(t.Unless(err), privacy)
}

// printPrivacy prints the settings.
func printPrivacy(t terminal.Terminal, privacy client.Privacy) error {
	receipts := "-"
	if on := privacy.ReadReceipts; on != nil {
		receipts = map[bool]string{true: "on", false: "off"}[*on]
	}
	return t.Fields(privacy,
		terminal.Pair{"last seen", terminal.OrNone(privacy.LastSeen)}, terminal.Pair{"online", terminal.OrNone(privacy.Online)},
		terminal.Pair{"picture", terminal.OrNone(privacy.ProfilePicture)}, terminal.Pair{"about", terminal.OrNone(privacy.About)},
		terminal.Pair{"read receipts", receipts}, terminal.Pair{"groups", terminal.OrNone(privacy.Groups)},
		terminal.Pair{"calls", terminal.OrNone(privacy.Calls)}, terminal.Pair{"messages", terminal.OrNone(privacy.Messages)},
		terminal.Pair{"disappearing", strconv.FormatInt(privacy.Disappearing, 10)})
}

type setPrivacyCommand struct {
	InstanceFlag
	LastSeen     string `help:"Who sees when the account was last online: all, contacts or none." enum:",all,contacts,none" default:"" env:"-"`
	Online       string `help:"Who sees that it is online: all or same_as_last_seen." enum:",all,same_as_last_seen" default:"" env:"-"`
	Picture      string `help:"Who sees its picture: all, contacts or none." enum:",all,contacts,none" default:"" env:"-"`
	About        string `help:"Who sees what it says about itself: all, contacts or none." enum:",all,contacts,none" default:"" env:"-"`
	ReadReceipts string `help:"Whether others learn that their messages were read: on or off." enum:",on,off" default:"" env:"-"`
	Groups       string `help:"Who adds it to groups: all, contacts or none." enum:",all,contacts,none" default:"" env:"-"`
	Calls        string `help:"Whose calls ring: all or known." enum:",all,known" default:"" env:"-"`
	Messages     string `help:"Who writes to it: all or contacts." enum:",all,contacts" default:"" env:"-"`
	Disappearing *int64 `help:"Seconds after which messages of new chats disappear: 0 (never), 86400, 604800 or 7776000." env:"-"`
}

// Run changes the settings.
func (c setPrivacyCommand) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	change := client.PrivacyChange{
		LastSeen: Given(c.LastSeen), Online: Given(c.Online), ProfilePicture: Given(c.Picture), About: Given(c.About),
		Groups: Given(c.Groups), Calls: Given(c.Calls), Messages: Given(c.Messages), Disappearing: c.Disappearing,
	}
	if c.ReadReceipts != "" {
		change.ReadReceipts = new(c.ReadReceipts == "on")
	}
	if change == (client.PrivacyChange{}) {
		return terminal.WrongUsage("say what to change: --last-seen, --online, --picture, --about, --read-receipts, --groups, --calls, --messages or --disappearing")
	}
	privacy, err := on.Gateway.ChangePrivacy(ctx, on.ID, change)
	return printPrivacy(t.Unless(err), privacy)
}

// Blocks lists the block list.
type Blocks struct{ InstanceFlag }

// Run lists the people whom the account has blocked.
func (c Blocks) Run(ctx context.Context, t terminal.Terminal, on Instance) error {
	head := []string{"ID", "NAME"}
	return terminal.List(t, on.Gateway.Blocks(ctx, on.ID), head, func(who client.ListedPerson) []string {
		return []string{who.ID, terminal.OrNone(who.Name)}
	})
}
