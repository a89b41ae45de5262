package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/call"
	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/directory"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/media/upload"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/messaging/traffic"
	"github.com/recado-project/recado/internal/presence"
	"github.com/recado-project/recado/internal/preview"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/template"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// useCases are the services that work with the store and the connector.
type useCases struct {
	access          *access.Service
	users           *user.Service
	log             *eventlog.Log
	retention       *eventlog.Retention
	webhooks        *webhook.Service
	accountWebhooks *accountwide.Service // of all instances of an account
	instances       *instance.Service
	directory       *directory.Service
	groups          *group.Service
	channels        *channel.Service
	profiles        *profile.Service
	calls           *call.Service
	traffic         *traffic.Traffic
	messages        *messaging.Service
	uploads         *upload.Service
	chats           *chat.Service
	labels          *label.Service
	presences       *presence.Service
	templates       *template.Service
}

// openUseCases makes the services, each of what stands before it.
func (s *Server) openUseCases() (err error) {
	var u useCases
	if u.access, err = access.New(access.Config{Store: s.store, Logger: s.config.Logger, Now: s.config.Now}); err != nil {
		return err
	}
	u.users, err = user.New(user.Config{
		Store: s.store.Users, Logger: s.config.Logger, Now: s.config.Now, RemovalTime: s.clock.RemovalTime, Dev: s.config.Sandbox != nil, SignIn: s.watch.signIn,
	})
	if err != nil {
		return err
	}
	u.uploads, err = upload.New(upload.Config{
		Store: s.store, Media: s.media, Files: s.queuedFiles, Links: s.links, MaxBytes: s.config.UploadQuota,
		LinkLifetime: func() time.Duration { return s.settings().messages().OrUsual().LinkLifetime },
		Logger:       s.config.Logger, Now: s.config.Now, RemovalTime: s.clock.RemovalTime,
	})
	if err != nil {
		return err
	}
	if err := s.openEvents(&u); err != nil {
		return err
	}
	sessions, err := instance.NewSessions(instance.SessionsConfig{
		Store: s.store, Connector: s.connector, Owns: s.node, Now: s.config.Now, DatabaseFails: s.databaseFailsNow,
	})
	if err != nil {
		return err
	}
	if u.directory, err = directory.New(directory.Config{Store: s.store, Sessions: sessions, Now: s.config.Now}); err != nil {
		return err
	}
	if err := s.openMessages(&u, sessions); err != nil {
		return err
	}
	if u.profiles, err = profile.New(profile.Config{Sessions: sessions, Pictures: s.media}); err != nil {
		return err
	}
	if u.templates, err = template.New(template.Config{Store: s.store.Templates, Now: s.config.Now}); err != nil {
		return err
	}
	if u.channels, err = channel.New(channel.Config{Sessions: sessions, Pictures: s.media}); err != nil {
		return err
	}
	u.groups, err = group.New(group.Config{
		Sessions: sessions, Directory: u.directory, Pictures: s.media,
		Invite: func(ctx context.Context, instanceID string, to gateway.JID, invite gateway.GroupInvite) (string, error) {
			sent, err := u.messages.Send(ctx, messaging.Request{InstanceID: instanceID, To: gateway.Recipient{Chat: to}},
				gateway.Content{Type: gateway.TypeGroupInvite, Invite: &invite})
			return sent.MessageID, err
		},
	})
	if err != nil {
		return err
	}
	s.node.Attach(u.parts()...)
	s.use = &u
	return nil
}

// openEvents makes the event log, the webhooks that deliver it, and its retention.
func (s *Server) openEvents(u *useCases) (err error) {
	c := s.config
	if u.log, err = eventlog.New(eventlog.Config{Store: s.store, Bell: &s.bell}); err != nil {
		return err
	}
	u.webhooks, err = webhook.New(webhook.Config{
		Store: webhookStore{s.store.Webhooks, s.store.Webhooks, s.store}, Log: u.log, Tenures: s.node, Bell: &s.bell,
		AllowPrivateURLs: c.AllowPrivateURLs, Denied: c.DenyFetch, Version: c.Version, Logger: c.Logger, Now: c.Now, Steady: s.clock.Steady,
		Watcher: s.watch.webhooks, Tracer: s.tracer, MediaLinks: s.eventLinks(), Instances: s.store, Accounts: s.store, Formats: c.formats(),
		OpenFile: func(ctx context.Context, instanceID, messageID string) (io.ReadCloser, int64, error) {
			return u.messages.OpenFile(ctx, instanceID, messageID)
		},
	})
	if err != nil {
		return err
	}
	u.accountWebhooks, err = accountwide.New(accountwide.Config{
		Store: s.store.AccountWebhooks, Webhooks: u.webhooks, Tenures: s.node, Logger: c.Logger, Now: c.Now,
	})
	if err != nil {
		return err
	}
	u.retention, err = eventlog.NewRetention(eventlog.RetentionConfig{
		Store: s.store, Delivered: u.webhooks.Delivered, Keep: func() eventlog.Keep { return s.settings().keep() },
		Tenures: s.node, Logger: c.Logger, RemovalTime: s.clock.RemovalTime,
	})
	return err
}

// eventLinks returns what signs the links to files in events; nil if the address is not known
// that they would begin with. Only clients on this machine reach a program that listens on it
// alone, and they know it by that address.
func (s *Server) eventLinks() webhook.MediaLinks {
	base := s.config.PublicURL
	if base == "" {
		if at, ok := s.listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
			return nil
		}
		base = s.BaseURL()
	}
	return messaging.NewEventLinks(s.links, base, func() messaging.Limits { return s.settings().messages() })
}

// openMessages makes what sends and what receives, and with that the instances, whose sessions need a
// receiver.
func (s *Server) openMessages(u *useCases, sessions *instance.Sessions) (err error) {
	c := s.config
	chats, err := chat.NewRecorder(chat.RecorderConfig{
		Store: arrangementStore{s.store, s.store.Chats}, Logger: c.Logger,
		RemoveFile: func(ctx context.Context, instanceID, messageID string) error {
			return s.blobs.Delete(ctx, messaging.FileKey(instanceID, messageID))
		},
	})
	if err != nil {
		return err
	}
	labels, err := label.NewRecorder(s.store)
	if err != nil {
		return err
	}
	if err := s.openSending(u, sessions, chats); err != nil {
		return err
	}
	u.chats, err = chat.New(chat.Config{
		Store: chatStore{s.store.Chats, s.store, s.store.Labels}, Directory: u.directory, Describer: s.connector.Encoder, Sessions: sessions, Recorder: chats, Now: c.Now,
	})
	if err != nil {
		return err
	}
	u.labels, err = label.New(label.Config{Store: s.store.Labels, Chats: u.chats, Sessions: sessions, Recorder: labels, Now: c.Now})
	if err != nil {
		return err
	}
	u.presences, err = presence.New(presence.Config{
		Store: s.store.Presences, Instances: s.store, Sessions: sessions, Directory: u.directory, Tenures: s.node, Logger: c.Logger, Now: c.Now,
	})
	if err != nil {
		return err
	}
	u.calls, err = call.New(call.Config{
		Sessions: sessions, Store: s.store, Logger: c.Logger, Now: c.Now,
		SendText: func(ctx context.Context, instanceID string, to gateway.JID, text string) error { // it waits in the queue as every other
			_, err := u.messages.Send(ctx, messaging.Request{InstanceID: instanceID, To: gateway.Recipient{Chat: to}, Later: true},
				gateway.Content{Type: gateway.TypeText, Text: text})
			return err
		},
	})
	if err != nil {
		return err
	}
	receiver, err := messaging.NewReceiver(messaging.ReceiverConfig{
		Store: s.store, Log: u.log, Encoder: s.connector.Encoder, Chats: chats, Labels: labels, Logger: c.Logger, Tracer: s.tracer,
		Rings: u.calls.Rings, Shown: u.presences.Shown, ReadsDue: u.messages.ReadsDue,
	})
	if err != nil {
		return err
	}
	u.instances, err = instance.New(instance.Config{
		Sessions: sessions, Receivers: receiver, Log: u.log, Logger: c.Logger, Webhooks: u.webhooks, Files: s.blobs, LogoutWait: c.LogoutWait,
		Failed: s.watch.failed, OnlineChanged: u.presences.OnlineChanged,
		Connected: func(ctx context.Context, instanceID string) {
			u.presences.Connected(ctx, instanceID)
			u.messages.ReadsDue(ctx, instanceID)
		},
	})
	return err
}

// openSending makes what sends messages, and counts them.
func (s *Server) openSending(u *useCases, sessions *instance.Sessions, chats *chat.Recorder) (err error) {
	c := s.config
	if u.traffic, err = traffic.New(traffic.Config{Store: s.store, Bell: &s.bell, Tenures: s.node, Logger: c.Logger, Now: c.Now}); err != nil {
		return err
	}
	previews, err := preview.New(preview.Config{Web: s.media, Logger: c.Logger})
	if err != nil {
		return err
	}
	s.pools = append(s.pools, previews.Pool())
	u.messages, err = messaging.New(messaging.Config{
		Previews: previews,
		Store:    s.store, Sessions: sessions, Directory: u.directory, Encoder: s.connector.Encoder, Chats: chats,
		Media: s.media, Blobs: s.blobs, QueuedFiles: s.queuedFiles, Links: s.links, Bell: &s.bell, Logger: c.Logger,
		Limits: func() messaging.Limits { return s.settings().messages() }, Now: c.Now, Steady: s.clock.Steady, RemovalTime: s.clock.RemovalTime,
		Tenures: s.node, Watcher: s.watch.sends, Tracer: s.tracer, Stopping: s.stopping, LastAnswer: c.LastAnswer,
		DatabaseFails: s.databaseFailsNow,
	})
	if err != nil {
		return err
	}
	s.onClose("messages", func() error {
		u.messages.Wait()
		return nil
	})
	return nil
}

// These are the store for use cases that need more than one part of it.
type (
	webhookStore struct {
		webhook.ConfigurationStore
		webhook.ProgressStore
		webhook.EventFinder
	}
	arrangementStore struct {
		chat.ArrangementStore
		chat.RemovalFinder
	}
	chatStore struct {
		chat.Finder
		chat.MessageFinder
		chat.LabelFinder
	}
)

// indexWords keeps the search up to date with the messages.
func (s *Server) indexWords(ctx context.Context) error {
	return s.store.Chats.RunIndex(ctx, func(err error) {
		s.config.Logger.ErrorContext(ctx, "messages are not put into the index of words; it is tried again", slog.Any("error", err))
	})
}
