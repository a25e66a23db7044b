/** The engine's placeholder for a string that is not known yet (engine rule 6). */
export const UNKNOWN_VALUE = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
