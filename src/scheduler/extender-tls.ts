import { readFile } from "node:fs/promises";
import type { buildConnector } from "undici";
import type { ExtenderSettings } from "./policy-schema.ts";

/**
 * How an extender's certificate is checked, and what certificate it is shown, as kube-scheduler does it (`makeTransport`
 * in pkg/scheduler/extender.go, v1.37.2): with `enableHTTPS` and no CA nothing is checked.
 *
 * @throws an error whose message is for people, when a file cannot be read
 */
export async function extenderTls({
  enableHTTPS,
  tlsConfig,
  urlPrefix,
}: ExtenderSettings): Promise<buildConnector.BuildOptions> {
  const config = tlsConfig ?? { insecure: false };
  const read = (file: string | undefined, data: string | undefined) => material(urlPrefix, file, data);
  const [ca, cert, key] = await Promise.all([
    read(config.caFile, config.caData),
    read(config.certFile, config.certData),
    read(config.keyFile, config.keyData),
  ]);
  const unchecked = config.insecure || (enableHTTPS && ca === undefined);
  return {
    rejectUnauthorized: !unchecked,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(config.serverName && { servername: config.serverName }),
  };
}

async function material(
  urlPrefix: string,
  file: string | undefined,
  data: string | undefined,
): Promise<Buffer | undefined> {
  if (data) return Buffer.from(data, "base64");
  if (!file) return undefined;
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `The extender at ${new URL(urlPrefix).origin} needs the file ${file}, which cannot be read: ${code}`,
    );
  }
}
