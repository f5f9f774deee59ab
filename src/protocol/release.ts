/** The release of this package, the same as in package.json. */
export const RELEASE = "0.1.0";

/** The version of what `GET /<profile>` answers and `POST /<profile>/evaluate` asks. */
export const EVALUATE_PROTOCOL = 1;
