<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 403: the API key, or the account, may not do this. */
final class ForbiddenError extends RecadoError
{
}
