<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 401: the API key is missing or wrong. */
final class UnauthorizedError extends RecadoError
{
}
