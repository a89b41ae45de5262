// Package channel holds the use cases of channels: which the account follows or owns, what is
// written in them, and reactions to it. What an account may do in a channel is the platform's to
// say.
package channel

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/required"
)

// Config holds what the service needs; all of it is required.
type Config struct {
	Sessions gateway.Sessions
	Pictures media.Pictures
}

// Service carries out the use cases. It is safe for concurrent use. Besides the errors that a
// method names, it may return those of gateway.OwnChannels, and Conflict, PaymentRequired,
// RateLimited, PlatformFailed and PlatformTimeout.
type Service struct{ config Config }

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("channel", config); err != nil {
		return nil, err
	}
	return &Service{config}, nil
}

// channels returns the part of an instance's session about channels.
func (s *Service) channels(ctx context.Context, instanceID string) (gateway.Channels, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	return session.Channels(), nil
}

// Filter chooses among the channels of an account.
type Filter struct {
	Name string // a part of it, in any case; empty: any
	Own  bool   // only those that the account owns or administers
}

func (f Filter) takes(channel gateway.Channel) bool {
	own := channel.Role == gateway.ChannelOwner || channel.Role == gateway.ChannelAdmin
	return (!f.Own || own) && strings.Contains(strings.ToLower(channel.Name), strings.ToLower(f.Name))
}

// List returns a page of the channels that the account follows or owns, in the order of their
// names.
func (s *Service) List(ctx context.Context, instanceID string, filter Filter, page gateway.PageRequest) (gateway.Page[gateway.Channel], error) {
	channels, err := s.channels(ctx, instanceID)
	if err != nil {
		return gateway.Page[gateway.Channel]{}, err
	}
	all, err := channels.JoinedChannels(ctx)
	if err != nil {
		return gateway.Page[gateway.Channel]{}, err
	}
	all = slices.DeleteFunc(all, func(channel gateway.Channel) bool { return !filter.takes(channel) })
	slices.SortFunc(all, func(a, b gateway.Channel) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return gateway.PageOf(all, page), nil
}

// Get asks for a channel. The account need not follow it.
func (s *Service) Get(ctx context.Context, instanceID string, ref gateway.ChannelRef) (gateway.Channel, error) {
	channels, err := s.channels(ctx, instanceID)
	if err != nil {
		return gateway.Channel{}, err
	}
	return channels.Channel(ctx, ref)
}

// Draft is a channel that is to be made.
type Draft struct {
	Name        string
	Description string
	Picture     *media.Picture // nil for none
}

// Create makes a channel. Its error is Invalid for a text or a picture that can't be, and nothing
// is made then.
func (s *Service) Create(ctx context.Context, instanceID string, draft Draft) (gateway.Channel, error) {
	if err := checkTexts(draft); err != nil {
		return gateway.Channel{}, err
	}
	channels, err := s.channels(ctx, instanceID)
	if err != nil {
		return gateway.Channel{}, err
	}
	wanted := gateway.NewChannel{Name: draft.Name, Description: draft.Description}
	if draft.Picture != nil {
		if wanted.Picture, err = s.config.Pictures.Portrait(ctx, *draft.Picture); err != nil {
			return gateway.Channel{}, err
		}
	}
	return channels.CreateChannel(ctx, wanted)
}

// checkTexts says what is wrong with the texts of a channel.
func checkTexts(draft Draft) error {
	var wrong []gateway.FieldError
	switch trimmed := strings.TrimSpace(draft.Name); {
	case trimmed == "":
		wrong = append(wrong, gateway.FieldError{Field: "name", Message: "must not be blank"})
	case len([]rune(draft.Name)) > gateway.MaxChannelName:
		wrong = append(wrong, gateway.FieldError{Field: "name", Message: "must have 100 characters or less"})
	case gateway.CleanName(draft.Name) != trimmed:
		wrong = append(wrong, gateway.FieldError{Field: "name", Message: "must not contain control characters, or characters that change the direction of the text"})
	}
	if len([]rune(draft.Description)) > gateway.MaxChannelDescription {
		wrong = append(wrong, gateway.FieldError{Field: "description", Message: "must have 2048 characters or less"})
	}
	if len(wrong) > 0 {
		return gateway.InvalidFields(wrong...)
	}
	return nil
}

// Follow follows or unfollows a channel. It is idempotent.
func (s *Service) Follow(ctx context.Context, instanceID string, ref gateway.ChannelRef, follow bool) error {
	return s.with(ctx, instanceID, ref, func(channels gateway.Channels, id gateway.JID) error {
		return channels.FollowChannel(ctx, id, follow)
	})
}

// Mute mutes or unmutes a channel that the account follows.
func (s *Service) Mute(ctx context.Context, instanceID string, ref gateway.ChannelRef, muted bool) error {
	return s.with(ctx, instanceID, ref, func(channels gateway.Channels, id gateway.JID) error {
		return channels.MuteChannel(ctx, id, muted)
	})
}

// Posts asks for posts of a channel, oldest first. The account need not follow it.
func (s *Service) Posts(ctx context.Context, instanceID string, ref gateway.ChannelRef, query gateway.PostQuery) (posts []gateway.Post, err error) {
	err = s.with(ctx, instanceID, ref, func(channels gateway.Channels, id gateway.JID) error {
		posts, err = channels.Posts(ctx, id, query)
		return err
	})
	return posts, err
}

// with does something with a channel, whose ID is asked for if it is not given.
func (s *Service) with(ctx context.Context, instanceID string, ref gateway.ChannelRef, do func(channels gateway.Channels, id gateway.JID) error) error {
	channels, err := s.channels(ctx, instanceID)
	if err != nil {
		return err
	}
	if ref.ID == "" {
		channel, err := channels.Channel(ctx, ref)
		if err != nil {
			return err
		}
		ref.ID = channel.ID
	}
	return do(channels, ref.ID)
}

const (
	// sought is how many posts of a channel are looked through for one, and soughtAtOnce with
	// one question.
	sought       = 300
	soughtAtOnce = 100
	// maxServerID is how many digits the number of a post has at most.
	maxServerID = 9
)

// React sets the account's reaction to a post, which is named by its number in the channel or,
// if it is one of the newest, by its platform identifier. An empty reaction takes it away. Its
// error is NotFound if there is no such post.
func (s *Service) React(ctx context.Context, instanceID string, ref gateway.ChannelRef, post, reaction string) error {
	return s.with(ctx, instanceID, ref, func(channels gateway.Channels, id gateway.JID) error {
		serverID, err := find(ctx, channels, id, post)
		if err != nil {
			return err
		}
		return channels.ReactToPost(ctx, id, serverID, reaction)
	})
}

// find returns the number of a post.
func find(ctx context.Context, channels gateway.Channels, id gateway.JID, post string) (int, error) {
	if number, err := strconv.Atoi(post); err == nil && number > 0 && len(post) <= maxServerID {
		return number, nil
	}
	query := gateway.PostQuery{Limit: soughtAtOnce}
	for range sought / soughtAtOnce {
		posts, err := channels.Posts(ctx, id, query)
		if err != nil {
			return 0, err
		}
		for _, one := range posts {
			if one.Message.PlatformID == post {
				return one.ServerID, nil
			}
		}
		if len(posts) == 0 || posts[0].ServerID <= 1 {
			break
		}
		query.Before = posts[0].ServerID
	}
	return 0, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "there is no such post among the newest %d of the channel; name it by its serverId", sought)
}
