package io.kinema.jobs.storage;

import io.kinema.engine.BadRequestException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * A storage in a bucket of S3, or of anything that speaks its protocol. Owns its HTTP client until it is closed; closing twice is
 * harmless. Credentials come from where the AWS SDK looks: the environment, a profile, the host's role.
 */
public final class S3Storage implements OutputStorage {
    /** What a bucket's URL begins with. */
    public static final String SCHEME = "s3://";

    private static final String USAGE = "expected s3://BUCKET or s3://BUCKET/PREFIX, then ?endpoint=URL and &region=NAME where they are not AWS's own";
    private static final int NOT_SATISFIABLE = 416;
    private static final int NOT_FOUND = 404;

    private final S3Client client;
    private final String bucket;
    private final String prefix;

    private S3Storage(S3Client client, String bucket, String prefix) {
        this.client = client;
        this.bucket = bucket;
        this.prefix = prefix.isEmpty() ? "" : new StorageKey(prefix).value() + "/";
    }

    /** @param prefix of all keys; may be empty. The client is the storage's from here on */
    public static S3Storage of(S3Client client, String bucket, String prefix) {
        return new S3Storage(client, bucket, prefix);
    }

    /** {@code s3://BUCKET/PREFIX?endpoint=URL&region=NAME}; all but the bucket may be left out. @throws BadRequestException when it is no such URL */
    public static S3Storage open(String url) {
        try {
            URI uri = URI.create(url);
            if (!url.startsWith(SCHEME) || uri.getAuthority() == null) {
                throw new IllegalArgumentException(url);
            }
            Map<String, String> options = options(uri);
            String path = Optional.ofNullable(uri.getPath()).orElse("").replaceAll("^/+|/+$", "");
            if (!path.isEmpty()) {
                path = new StorageKey(path).value();
            }
            return of(client(options), uri.getAuthority(), path);
        } catch (IllegalArgumentException e) {
            throw new BadRequestException("storage", "'" + url + "'", USAGE);
        } catch (SdkClientException e) {
            throw new BadRequestException("storage", "'" + url + "'", "expected a region with it: add ?region=NAME, or set AWS_REGION");
        }
    }

    private static Map<String, String> options(URI uri) {
        Map<String, String> options = Arrays.stream(Optional.ofNullable(uri.getQuery()).orElse("").split("&")).filter(part -> !part.isEmpty())
                .collect(Collectors.toMap(part -> part.split("=", 2)[0], part -> part.contains("=") ? part.split("=", 2)[1] : "", (a, b) -> b, LinkedHashMap::new));
        if (!List.of("endpoint", "region").containsAll(options.keySet())) {
            throw new IllegalArgumentException("" + options.keySet());
        }
        return options;
    }

    private static S3Client client(Map<String, String> options) {
        S3ClientBuilder client = builder();
        Optional.ofNullable(options.get("region")).map(Region::of).ifPresent(client::region);
        Optional.ofNullable(options.get("endpoint")).map(URI::create).ifPresent(endpoint -> client.endpointOverride(endpoint).forcePathStyle(true));
        return client.build();
    }

    /** A client that other makers' servers understand too: checksums only where the protocol demands them. */
    static S3ClientBuilder builder() {
        return S3Client.builder().httpClientBuilder(UrlConnectionHttpClient.builder()).requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
    }

    @Override
    public StoredFile put(StorageKey key, Path file) {
        return tried("store " + key, () -> {
            try {
                long bytes = Files.size(file);
                client.putObject(request -> request.bucket(bucket).key(prefix + key), file);
                return new StoredFile(key, bytes);
            } catch (IOException e) {
                throw failure("store " + key, e);
            }
        });
    }

    @Override
    public Optional<StoredFile> find(StorageKey key) {
        return tried("look at " + key, () -> {
            try {
                return Optional.of(new StoredFile(key, client.headObject(request -> request.bucket(bucket).key(prefix + key)).contentLength()));
            } catch (S3Exception e) {
                return absent(e);
            }
        });
    }

    @Override
    public Optional<InputStream> read(StorageKey key, long from, long bytes) {
        if (bytes <= 0) {
            return find(key).map(file -> InputStream.nullInputStream());
        }
        long last = bytes > Long.MAX_VALUE - from ? Long.MAX_VALUE : from + bytes - 1;
        return tried("read " + key, () -> {
            try {
                return Optional.of(client.getObject(request -> request.bucket(bucket).key(prefix + key).range("bytes=" + from + "-" + last)));
            } catch (S3Exception e) {
                return e.statusCode() == NOT_SATISFIABLE ? Optional.of(InputStream.nullInputStream()) : absent(e);
            }
        });
    }

    private static <T> Optional<T> absent(S3Exception e) {
        if (e instanceof NoSuchKeyException || e.statusCode() == NOT_FOUND) {
            return Optional.empty();
        }
        throw e;
    }

    @Override
    public void fetch(StorageKey key, Path target) {
        Path part = target.toAbsolutePath().resolveSibling(".kinema-" + Long.toHexString(ThreadLocalRandom.current().nextLong()) + ".part");
        tried("read " + key, () -> {
            try {
                client.getObject(request -> request.bucket(bucket).key(prefix + key), part);
                Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
                return target;
            } catch (IOException e) {
                throw failure("read " + key, e);
            } finally {
                removeQuietly(part);
            }
        });
    }

    private static void removeQuietly(Path part) {
        try {
            Files.deleteIfExists(part);
        } catch (IOException left) {
            // The reason for giving up is already being reported.
        }
    }

    @Override
    public void deleteAll(StorageKey folder) {
        tried("remove " + folder, () -> {
            client.deleteObject(request -> request.bucket(bucket).key(prefix + folder));
            for (S3Object object : client.listObjectsV2Paginator(under(folder).build()).contents()) {
                client.deleteObject(request -> request.bucket(bucket).key(object.key()));
            }
            return folder;
        });
    }

    @Override
    public List<String> children(StorageKey folder) {
        return tried("list " + folder, () -> {
            int start = (prefix + folder + "/").length();
            ListObjectsV2Request request = under(folder).delimiter("/").build();
            List<String> files = client.listObjectsV2Paginator(request).contents().stream().map(S3Object::key).map(key -> key.substring(start)).toList();
            List<String> folders = client.listObjectsV2Paginator(request).commonPrefixes().stream().map(CommonPrefix::prefix)
                    .map(key -> key.substring(start, key.length() - 1)).toList();
            return java.util.stream.Stream.concat(files.stream(), folders.stream()).sorted().toList();
        });
    }

    private ListObjectsV2Request.Builder under(StorageKey folder) {
        return ListObjectsV2Request.builder().bucket(bucket).prefix(prefix + folder + "/");
    }

    private static <T> T tried(String what, Supplier<T> work) {
        try {
            return work.get();
        } catch (SdkException | IllegalArgumentException | java.io.UncheckedIOException e) {
            throw failure(what, e);
        }
    }

    private static StorageException failure(String what, Exception e) {
        String reason = e instanceof S3Exception s3 && s3.awsErrorDetails() != null ? s3.awsErrorDetails().errorCode() : e.getClass().getSimpleName();
        return new StorageException("storage: cannot " + what + ": " + reason + "; check the bucket, its endpoint and the credentials", e);
    }

    @Override
    public void close() {
        client.close();
    }
}
