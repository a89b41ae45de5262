// The account itself: profile, privacy, blocks.

package remote

import (
	"context"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// Profile are the commands about the profile.
type Profile struct {
	Show showProfileCommand `cmd:"" help:"Show what others see of the account."`
	Set  setProfileCommand  `cmd:"" help:"Change the name, the line about itself and the picture of the account."`
}

type showProfileCommand struct{ target.InstanceFlag }

// Run shows the profile.
func (c showProfileCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	profile, err := gateway.GetProfile(ctx, id)
	if err != nil {
		return err
	}
	return printProfile(t, profile)
}

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
	target.InstanceFlag
	Name    *string `help:"The name that the account goes by." env:"-"`
	About   *string `help:"What it says about itself; empty removes it." env:"-"`
	Picture *string `help:"URL of its picture; empty removes it." env:"-"`
}

// Run changes the profile.
func (c setProfileCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	change := client.ProfileChange{Name: c.Name, About: target.OrNull(c.About), Picture: target.OrNull(c.Picture)}
	if change == (client.ProfileChange{}) {
		return terminal.WrongUsage("say what to change: --name, --about or --picture")
	}
	profile, err := gateway.ChangeProfile(ctx, id, change)
	if err != nil {
		return err
	}
	return printProfile(t, profile)
}

// Privacy are the commands about privacy settings.
type Privacy struct {
	Show showPrivacyCommand `cmd:"" help:"Show what the account lets others see and do."`
	Set  setPrivacyCommand  `cmd:"" help:"Change what the account lets others see and do."`
}

type showPrivacyCommand struct{ target.InstanceFlag }

// Run shows the settings.
func (c showPrivacyCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	privacy, err := gateway.GetPrivacy(ctx, id)
	if err != nil {
		return err
	}
	return printPrivacy(t, privacy)
}

func printPrivacy(t terminal.Terminal, privacy client.Privacy) error {
	receipts := "-"
	if privacy.ReadReceipts != nil {
		receipts = onOff(*privacy.ReadReceipts)
	}
	return t.Fields(privacy,
		terminal.Pair{"last seen", terminal.OrNone(privacy.LastSeen)}, terminal.Pair{"online", terminal.OrNone(privacy.Online)},
		terminal.Pair{"picture", terminal.OrNone(privacy.ProfilePicture)}, terminal.Pair{"about", terminal.OrNone(privacy.About)},
		terminal.Pair{"read receipts", receipts}, terminal.Pair{"groups", terminal.OrNone(privacy.Groups)},
		terminal.Pair{"calls", terminal.OrNone(privacy.Calls)}, terminal.Pair{"messages", terminal.OrNone(privacy.Messages)},
		terminal.Pair{"disappearing", strconv.FormatInt(privacy.Disappearing, 10)})
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

type setPrivacyCommand struct {
	target.InstanceFlag
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
func (c setPrivacyCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	given := target.Given
	change := client.PrivacyChange{
		LastSeen: given(c.LastSeen), Online: given(c.Online), ProfilePicture: given(c.Picture), About: given(c.About),
		Groups: given(c.Groups), Calls: given(c.Calls), Messages: given(c.Messages), Disappearing: c.Disappearing,
	}
	if c.ReadReceipts != "" {
		change.ReadReceipts = new(c.ReadReceipts == "on")
	}
	if change == (client.PrivacyChange{}) {
		return terminal.WrongUsage("say what to change: --last-seen, --online, --picture, --about, --read-receipts, --groups, --calls, --messages or --disappearing")
	}
	privacy, err := gateway.ChangePrivacy(ctx, id, change)
	if err != nil {
		return err
	}
	return printPrivacy(t, privacy)
}

// Blocks lists the block list.
type Blocks struct{ target.InstanceFlag }

// Run lists the people whom the account has blocked.
func (c Blocks) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	people := []client.ListedPerson{} // never null
	var rows [][]string
	for who, err := range gateway.Blocks(ctx, id) {
		if err != nil {
			return err
		}
		people = append(people, who)
		rows = append(rows, []string{who.ID, terminal.OrNone(who.Name)})
	}
	return t.Table(people, []string{"ID", "NAME"}, rows)
}
