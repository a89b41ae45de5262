<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 5xx: the gateway or the platform can't carry it out now. */
final class UnavailableError extends RecadoError
{
}
