package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"

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
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/messaging/traffic"
	"github.com/recado-project/recado/internal/presence"
	"github.com/recado-project/recado/internal/preview"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// buildUseCases makes the services that work with the store and the connector. Each
// step needs the ones before it.
func (s *Server) buildUseCases(ctx context.Context) error {
	if err := s.buildNode(ctx); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	for _, build := range []func() error{s.buildAccess, s.buildUsers, s.buildEvents, s.buildInstances, s.buildMessages, s.buildGroups, s.buildChannels, s.buildProfiles, s.buildPresences, s.buildCalls, s.buildChats, s.buildLabels} {
		if err := build(); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	return nil
}

func (s *Server) buildAccess() (err error) {
	s.access, err = access.New(access.Config{Store: s.store, Logger: s.config.Logger, Now: s.config.Now})
	return err
}

func (s *Server) buildUsers() (err error) {
	s.users, err = user.New(user.Config{
		Store: s.store.Users, Logger: s.config.Logger, Now: s.config.Now, RemovalTime: s.clock.RemovalTime, Dev: s.config.Sandbox != nil, SignIn: s.watch.signIn,
	})
	return err
}

// buildEvents makes the event log, the webhooks that deliver it, and its retention.
func (s *Server) buildEvents() (err error) {
	c := s.config
	if s.log, err = eventlog.New(eventlog.Config{Store: s.store, Bell: &s.bell}); err != nil {
		return err
	}
	s.webhooks, err = webhook.New(webhook.Config{
		Store: webhookStore{s.store.Webhooks, s.store.Webhooks, s.store}, Log: s.log, Tenures: s.node, Bell: &s.bell, AllowPrivateURLs: c.AllowPrivateURLs, Denied: c.DenyFetch, Version: c.Version, Logger: c.Logger, Now: c.Now, Steady: s.clock.Steady,
		Watcher: s.watch.webhooks, Tracer: s.tracer, MediaLinks: s.eventLinks(),
	})
	if err != nil {
		return err
	}
	s.accountWebhooks, err = accountwide.New(accountwide.Config{
		Store: s.store.AccountWebhooks, Webhooks: s.webhooks, Tenures: s.node, Logger: c.Logger, Now: c.Now,
	})
	if err != nil {
		return err
	}
	s.retention, err = eventlog.NewRetention(eventlog.RetentionConfig{
		Store: s.store, Delivered: s.webhooks.Delivered, Keep: func() eventlog.Keep { return s.settings().keep() },
		Tenures: s.node,
		Logger:  c.Logger, RemovalTime: s.clock.RemovalTime,
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

// buildInstances makes the owner of the sessions, the receiver of their content, and
// the directory.
func (s *Server) buildInstances() error {
	c := s.config
	var err error
	s.chatRecorder, err = chat.NewRecorder(chat.RecorderConfig{Store: arrangementStore{s.store, s.store.Chats}, Logger: c.Logger, RemoveFile: func(ctx context.Context, instanceID, messageID string) error {
		return s.blobs.Delete(ctx, messaging.FileKey(instanceID, messageID))
	}})
	if err != nil {
		return err
	}
	if s.labelRecorder, err = label.NewRecorder(s.store); err != nil {
		return err
	}
	receiver, err := messaging.NewReceiver(messaging.ReceiverConfig{
		Store: s.store, Log: s.log, Encoder: s.connector.Encoder, Chats: s.chatRecorder, Labels: s.labelRecorder, Logger: c.Logger, Tracer: s.tracer,
		// No session receives a call before the use cases of calls are there.
		Rings: func(ctx context.Context, instanceID string, call gateway.Call) { s.calls.Rings(ctx, instanceID, call) },
		Shown: func(ctx context.Context, instanceID string, shown gateway.ContactPresence) error {
			return s.presences.Shown(ctx, instanceID, shown)
		},
	})
	if err != nil {
		return err
	}
	s.instances, err = instance.New(instance.Config{
		Store: s.store, Connector: s.connector, Receivers: receiver, Log: s.log, Logger: c.Logger,
		Webhooks: s.webhooks, Files: s.blobs, Owns: s.node, Now: c.Now, LogoutWait: c.LogoutWait,
		DatabaseFails: s.databaseFailsNow,
		Failed:        s.watch.failed,
		Connected:     func(ctx context.Context, instanceID string) { s.presences.Connected(ctx, instanceID) },
	})
	if err != nil {
		return err
	}
	s.directory, err = directory.New(directory.Config{Store: s.store, Sessions: s.instances, Now: c.Now})
	return err
}

func (s *Server) buildGroups() (err error) {
	s.groups, err = group.New(group.Config{
		Sessions: s.instances, Directory: s.directory, Pictures: s.media,
		Invite: func(ctx context.Context, instanceID string, to gateway.JID, invite gateway.GroupInvite) (string, error) {
			sent, err := s.messages.Send(ctx, messaging.Request{InstanceID: instanceID, To: gateway.Recipient{Chat: to}},
				gateway.Content{Type: gateway.TypeGroupInvite, Invite: &invite})
			return sent.MessageID, err
		},
	})
	return err
}

func (s *Server) buildChannels() (err error) {
	s.channels, err = channel.New(channel.Config{Sessions: s.instances, Pictures: s.media})
	return err
}

func (s *Server) buildProfiles() (err error) {
	s.profiles, err = profile.New(profile.Config{Sessions: s.instances, Pictures: s.media})
	return err
}

// buildCalls makes what rejects calls. A text for a caller waits in the queue as every other.
func (s *Server) buildCalls() (err error) {
	s.calls, err = call.New(call.Config{
		Sessions: s.instances, Store: s.store, Logger: s.config.Logger, Now: s.config.Now,
		SendText: func(ctx context.Context, instanceID string, to gateway.JID, text string) error {
			_, err := s.messages.Send(ctx, messaging.Request{InstanceID: instanceID, To: gateway.Recipient{Chat: to}, Later: true},
				gateway.Content{Type: gateway.TypeText, Text: text})
			return err
		},
	})
	return err
}

func (s *Server) buildMessages() (err error) {
	c := s.config
	s.traffic, err = traffic.New(traffic.Config{Store: s.store, Bell: &s.bell, Tenures: s.node, Logger: c.Logger, Now: c.Now})
	if err != nil {
		return err
	}
	previews, err := preview.New(preview.Config{Web: s.media, Logger: c.Logger})
	if err != nil {
		return err
	}
	s.pools = append(s.pools, previews.Places())
	s.messages, err = messaging.New(messaging.Config{
		Previews: previews,
		Store:    s.store, Sessions: s.instances, Directory: s.directory, Encoder: s.connector.Encoder, Chats: s.chatRecorder,
		Media: s.media, Blobs: s.blobs, QueuedFiles: s.queuedFiles, Links: s.links, Bell: &s.bell, Logger: c.Logger,
		Limits: func() messaging.Limits { return s.settings().messages() }, Now: c.Now, Steady: s.clock.Steady, RemovalTime: s.clock.RemovalTime,
		Tenures: s.node, Watcher: s.watch.sends, Tracer: s.tracer, Stopping: s.stopping, LastAnswer: c.LastAnswer,
		DatabaseFails: s.databaseFailsNow,
	})
	if err != nil {
		return err
	}
	s.onClose("messages", func() error {
		s.messages.Wait()
		return nil
	})
	return nil
}

func (s *Server) buildPresences() (err error) {
	s.presences, err = presence.New(presence.Config{
		Store: s.store.Presences, Sessions: s.instances, Directory: s.directory, Tenures: s.node, Logger: s.config.Logger, Now: s.config.Now,
	})
	return err
}

func (s *Server) buildChats() (err error) {
	s.chats, err = chat.New(chat.Config{
		Store: chatStore{s.store.Chats, s.store, s.store.Labels}, Directory: s.directory, Describer: s.connector.Encoder, Sessions: s.instances, Recorder: s.chatRecorder, Now: s.config.Now,
	})
	return err
}

func (s *Server) buildLabels() (err error) {
	s.labels, err = label.New(label.Config{Store: s.store.Labels, Chats: s.chats, Sessions: s.instances, Recorder: s.labelRecorder, Now: s.config.Now})
	return err
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
