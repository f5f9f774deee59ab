/** The release of this package, the same as in package.json. */
export const RELEASE = "0.1.0";
