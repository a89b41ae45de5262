<?php

declare(strict_types=1);

namespace Recado;

/** An event of an instance, as streams and webhooks carry it. */
final class Event
{
    /** The same on every delivery. */
    public readonly string $id;

    /** One of EventType, or one that this package does not know. */
    public readonly string $type;

    public readonly \DateTimeImmutable $timestamp;

    public readonly string $instanceId;

    /** Its number in its instance, without a gap. */
    public readonly int $sequence;

    /**
     * What happened: of the class in Recado\Types that belongs to the type, such as MessageReceivedEvent; a \stdClass
     * for a type that this package does not know.
     */
    public readonly object $data;

    /** Leads to the file of the message; null if there is none, or the webhook has no media links. */
    public readonly ?EventMediaLink $mediaLink;

    /** @internal */
    public function __construct(Json $json)
    {
        $this->id = $json->string('id') ?? '';
        $this->type = $json->string('type') ?? '';
        $this->timestamp = $json->time('timestamp') ?? new \DateTimeImmutable('@0');
        $this->instanceId = $json->string('instanceId') ?? '';
        $this->sequence = $json->int('sequence') ?? 0;
        $class = EventType::CLASSES[$this->type] ?? null;
        $data = $json->map('data') ?? [];
        $this->data = $class === null ? (object) $data : new $class(new Json($data));
        $this->mediaLink = $json->of('mediaLink', EventMediaLink::class);
    }
}
