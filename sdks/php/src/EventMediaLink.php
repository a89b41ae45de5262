<?php

declare(strict_types=1);

namespace Recado;

/** A link to the file of a message, which needs no API key. */
final class EventMediaLink
{
    public readonly string $url;

    public readonly \DateTimeImmutable $expiresAt;

    /** @internal */
    public function __construct(Json $json)
    {
        $this->url = $json->string('url') ?? '';
        $this->expiresAt = $json->time('expiresAt') ?? new \DateTimeImmutable('@0');
    }
}
