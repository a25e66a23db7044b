import { join } from "node:path";

/** The pages that messages name, where this copy of the package is. */
export const DOCS = join(__dirname, "../../docs");
export const LOST_STATE = join(DOCS, "lost-state.md");
export const COMING_OVER = join(DOCS, "coming-over.md");
